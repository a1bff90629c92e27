import type { Consumer } from '@flags/http/wire';
import { type Command, Option } from 'commander';
import { type CommandIo, showPlanned } from '../output.js';
import { confirmOrRefuse } from '../review.js';
import { type CommandSession, type CommonOptions, createAction } from '../session.js';

interface ResetOptions extends CommonOptions {
  readonly from: 'now' | 'beginning';
}

/** Adds the commands for durable consumers of events. */
export function addConsumerCommands(program: Command, io: CommandIo): void {
  const consumers = program.command('consumers').description('list, reset and delete consumers of events');
  consumers
    .command('list', { isDefault: true })
    .description('list consumers, with their lag and last error')
    .action(createAction(io, listConsumers));
  consumers
    .command('reset')
    .description('move a consumer; it continues there')
    .argument('<name>')
    .addOption(
      new Option('--from <start>', 'now skips all events up to now, beginning repeats all events')
        .choices(['now', 'beginning'])
        .makeOptionMandatory(),
    )
    .action(createAction(io, resetConsumer));
  consumers
    .command('delete')
    .description('delete a consumer; a node that starts it again creates it')
    .argument('<name>')
    .action(createAction(io, deleteConsumer));
}

/** The lag is counted up to this number. */
const COUNTED = 1000;

async function listConsumers({ api, output }: CommandSession): Promise<void> {
  const { consumers } = await api.get<{ consumers: readonly Consumer[] }>('/consumers');
  output.json(consumers);
  if (consumers.length === 0) return output.line('There are no consumers.');
  output.table(
    ['Name', 'Behind', 'Oldest', 'Node', 'Since', 'Error'],
    consumers.map(({ name, lag, node, since, error }) => [
      name,
      lag.events >= COUNTED ? `${lag.events} or more` : String(lag.events),
      lag.events === 0 ? '' : `${Math.round(lag.ms / 1000)} s`,
      node ?? 'none',
      since ?? '',
      error ?? '',
    ]),
  );
}

async function resetConsumer(session: CommandSession<ResetOptions>, name: string): Promise<void> {
  const { api, output, options } = session;
  const { from } = options;
  const place = from === 'now' ? 'the newest event' : 'the beginning of the log';
  const effect = from === 'now' ? 'It skips the events before.' : 'It gets all events again.';
  if (options.dryRun === true) return showPlanned(output, `Would move the consumer ${name} to ${place}.`);
  await confirmOrRefuse(session, `Move the consumer ${name} to ${place}? ${effect}`);
  await api.post(`/consumers/${encodeURIComponent(name)}/reset`, { from });
  output.json({ changed: true, reset: name, from });
  output.line(`Moved the consumer ${name} to ${place}.`);
}

async function deleteConsumer(session: CommandSession, name: string): Promise<void> {
  const { api, output, options } = session;
  if (options.dryRun === true) return showPlanned(output, `Would delete the consumer ${name}.`);
  await confirmOrRefuse(session, `Delete the consumer ${name}? It ends on its node, and forgets its position.`);
  await api.delete(`/consumers/${encodeURIComponent(name)}`);
  output.json({ changed: true, deleted: name });
  output.line(`Deleted the consumer ${name}.`);
}
