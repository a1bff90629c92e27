import { call } from '../../api/call.js';
import { invalidate, useResource } from '../../api/resource.js';
import type { Consumer } from '../../api/types.js';
import { Ago } from '../../parts/control/answer.js';
import { DialogButton } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { Confirm } from '../../parts/form/dialog.js';
import { Card } from '../../parts/frame/screen.js';
import { Fault } from '../../parts/frame/states.js';
import { Table } from '../../parts/list/table.js';
import { currentProject } from '../../router.js';
import { attempt } from '../../state/toasts.js';
import { plural } from '../../words.js';

/** The lag is counted up to this number. */
const COUNTED = 1000;
const NONE = <span class="muted">none</span>;

/** The durable consumers of events, those that fail first. One line without consumers. */
export function Consumers() {
  const { data, error } = useResource('listConsumers', {});
  const consumers = (data?.consumers ?? []).toSorted((one, other) => Number(isFailing(other)) - Number(isFailing(one)));
  const failing = consumers.filter(isFailing).length;
  if (error) return <Fault error={error} />;
  if (consumers.length === 0) return <Card title="Consumers of events" note={data && 'None yet'} />;
  const count = plural(consumers.length, 'consumer');
  return (
    <Card title="Consumers of events" note={failing === 0 ? count : `${count}, ${failing} failing`}>
      <Table
        class="plain stacked consumers"
        items={consumers}
        keyOf={({ name }) => name}
        rowClass={(consumer) => (isFailing(consumer) ? 'failing' : '')}
        columns={[
          { title: 'Consumer', cell: (consumer) => <ConsumerName consumer={consumer} /> },
          { title: 'Behind', isNamed: true, cell: ({ lag }) => <Lag lag={lag} /> },
          { title: 'Last error', isNamed: true, cell: ({ error }) => <LastError error={error} /> },
          { title: 'Node', isNamed: true, cell: ({ node }) => node ?? NONE },
          { title: 'Since', isNamed: true, cell: ({ since }) => (since === null ? NONE : <Ago at={since} />) },
          { title: '', cell: (consumer) => <ConsumerActions consumer={consumer} /> },
        ]}
      />
    </Card>
  );
}

function isFailing({ error }: Consumer): boolean {
  return error !== null;
}

function ConsumerName({ consumer }: { readonly consumer: Consumer }) {
  return (
    <>
      {consumer.name}{' '}
      {isFailing(consumer) && (
        <span class="tag danger">
          <Icon name="warning" /> failing
        </span>
      )}
    </>
  );
}

function Lag({ lag: { events, ms } }: Pick<Consumer, 'lag'>) {
  if (events === 0) return <span class="muted">up to date</span>;
  const counted = events >= COUNTED ? `${plural(events, 'event')} or more` : plural(events, 'event');
  return (
    <>
      {counted}, the oldest <Ago at={new Date(Date.now() - ms).toISOString()} />
    </>
  );
}

/** A longer message would hide the other consumers. The rest is in its tooltip. */
const SHOWN = 120;

function LastError({ error }: Pick<Consumer, 'error'>) {
  if (error === null) return NONE;
  if (error.length <= SHOWN) return <>{error}</>;
  return <span title={error}>{error.slice(0, SHOWN - 1)}…</span>;
}

const STARTS = [
  ['now', 'Skip', 'Skip all events up to now?', 'It continues with the next event. It never gets the skipped ones.'],
  ['beginning', 'Repeat', 'Repeat all events?', 'It gets every event of the log again, the oldest first.'],
] as const;

function ConsumerActions({ consumer: { name } }: { readonly consumer: Consumer }) {
  const run = async (work: () => Promise<unknown>, done: string) => {
    await attempt(work, done);
    invalidate('listConsumers');
  };
  const params = { consumer: name };
  return (
    <span class="actions">
      {STARTS.map(([from, verb, title, text]) => (
        <DialogButton
          key={from}
          class="quiet"
          needs={['resetConsumer']}
          project={currentProject()}
          label={`${verb} the events of ${name}`}
          dialog={(close) => (
            <Confirm
              title={`${name}: ${title}`}
              text={text}
              confirm={`Confirm: reset ${name}`}
              onConfirm={() =>
                run(() => call('resetConsumer', { params, body: { from } }), `The consumer ${name} was reset.`)
              }
              onClose={close}
            />
          )}
        >
          {verb}…
        </DialogButton>
      ))}
      <DialogButton
        class="quiet"
        needs={['deleteConsumer']}
        project={currentProject()}
        label={`Delete ${name}`}
        dialog={(close) => (
          <Confirm
            title={`Delete the consumer ${name}?`}
            text="It ends on its node, and its position is forgotten. A node that starts it again creates it."
            confirm={`Confirm: delete ${name}`}
            onConfirm={() => run(() => call('deleteConsumer', { params }), `The consumer ${name} was deleted.`)}
            onClose={close}
          />
        )}
      >
        Delete…
      </DialogButton>
    </span>
  );
}
