/** So many frames, and bytes of them, are remembered; the newest always is. */
const FRAMES = 1000;
const BYTES = 1024 * 1024;

/** The latest changes of a channel, numbered without gaps. */
export interface Journal {
  /** The number of the newest change; before the first one, where the numbering begins. */
  readonly latest: number;
  /** Without a frame: the change is too long to be remembered, and with it all before. */
  append(frame: Buffer | undefined): void;
  /** The frames after that number; undefined when they are not remembered any more, or never were. */
  since(eventId: number): readonly Buffer[] | undefined;
}

export function createJournal(): Journal {
  const frames: Buffer[] = [];
  let latest = 1;
  let bytes = 0;

  function forget(): void {
    while (frames.length > 1 && (frames.length > FRAMES || bytes > BYTES)) bytes -= frames.shift()?.length ?? 0;
  }

  return {
    get latest() {
      return latest;
    },
    append(frame) {
      latest += 1;
      if (frame) {
        frames.push(frame);
        bytes += frame.length;
        forget();
        return;
      }
      frames.length = 0;
      bytes = 0;
    },
    since(eventId) {
      const missed = latest - eventId;
      return missed >= 0 && missed <= frames.length ? frames.slice(frames.length - missed) : undefined;
    },
  };
}
