export interface Frame {
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** Parses server-sent events. A comment is a heartbeat: a frame without data. */
export async function* framesOf(chunks: AsyncIterable<string> | ReadableStream<string>): AsyncGenerator<Frame> {
  let rest = '';
  for await (const chunk of chunks as AsyncIterable<string>) {
    rest += chunk;
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield frameOf(block);
  }
}

function frameOf(block: string): Frame {
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'id') id = value;
    if (field === 'data') data.push(value);
  }
  return { id, data: data.length === 0 ? undefined : data.join('\n') };
}
