import { describeCondition } from '@flags/core/admin';
import { useResource } from '../../api/resource.js';
import type { Constraint, Segment, SegmentUse } from '../../api/types.js';
import { Ago } from '../../parts/control/answer.js';
import { Button, Details, Link } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { ChangeButton } from '../../parts/form/change-button.js';
import { Heading } from '../../parts/frame/heading.js';
import { Card, ScreenFrame, ScreenHead, WhenLoaded } from '../../parts/frame/screen.js';
import { LongList } from '../../parts/strategy/value-list.js';
import { currentProject, href, navigate } from '../../router.js';
import type { Proposal } from '../../state/changes.js';
import { draftOf } from '../../state/drafts.js';
import { projectName } from '../../state/projects.js';
import { plural } from '../../words.js';

/** One segment: its constraints, and the strategies that use it. */
export function SegmentScreen({ id }: { readonly id: string }) {
  const reply = useResource('getSegment', { params: { segment: id } });
  return (
    <ScreenFrame
      back={{ to: ['segments'], label: 'Segments' }}
      reply={reply}
      missing={({ status }) => <Heading title={status === 404 ? 'There is no such segment' : `Segment ${id}`} />}
    >
      {(segment) => <Detail segment={segment} revision={reply.revision} />}
    </ScreenFrame>
  );
}

interface DetailProps {
  readonly segment: Segment;
  readonly revision: number | undefined;
}

function Detail({ segment, revision }: DetailProps) {
  const { id, name, description, constraints, project, createdAt, createdBy } = segment;
  const uses = useResource('listSegmentUses', { params: { segment: id } });
  const place = project ?? currentProject();
  const removal: Proposal = {
    title: `Delete ${name}?`,
    text: 'No strategy uses this segment. The deletion can be reverted in the events.',
    confirm: `Confirm: delete ${name}`,
    changes: [
      {
        op: 'deleteSegment',
        ref: { segment: id, project },
        ...(revision !== undefined && { ifRevision: revision }),
      },
    ],
    done: `The segment ${name} was deleted.`,
    leave: () => navigate(href(['segments'])),
  };
  const users = uses.data?.strategies ?? [];
  const usersText = (
    <>
      <p>
        {plural(users.length, 'strategy uses', 'strategies use')} this segment, so it cannot be deleted. Remove it from
        them first. Strategies of archived flags count, too.
      </p>
      <Uses uses={users} />
    </>
  );
  return (
    <>
      <header class="flag-head">
        <ScreenHead
          title={name}
          actions={
            <>
              <Button
                needs={['updateSegment', 'applyChanges']}
                project={place}
                onClick={() => navigate(href(['segments', id, 'edit']))}
              >
                <Icon name="edit" /> Edit
              </Button>
              <ChangeButton
                project={place}
                proposal={removal}
                blocked={uses.data ? undefined : 'It is not known yet which strategies use this segment.'}
                obstacle={users.length > 0 && { title: `${name} is in use`, text: usersText }}
              >
                Delete…
              </ChangeButton>
            </>
          }
        >
          <span class="tag">{project === null ? 'all projects' : `project ${projectName(project)}`}</span>
        </ScreenHead>
        {description && <p class="description">{description}</p>}
        <p class="muted created">
          Created by {createdBy} <Ago at={createdAt} />
        </p>
      </header>
      {draftOf(`segment ${id}`) && (
        <p class="notice">
          You have an unsaved draft of this segment.{' '}
          <Link to={['segments', id, 'edit']} action="Continue editing">
            Continue editing
          </Link>
        </p>
      )}
      <Card title="Who is in it" note={constraints.length === 0 && 'Everybody: there are no constraints'}>
        {constraints.length > 0 && (
          <ul class="rules">
            {constraints.map((constraint, index) => (
              <li key={index}>
                {index > 0 && <span class="and">and</span>}
                <b>{constraint.contextName}</b> {describeCondition(constraint)}
                <AllValues constraint={constraint} number={index + 1} />
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Card
        title="Used by"
        note={users.length === 0 ? uses.data && 'No strategy' : plural(users.length, 'strategy', 'strategies')}
      >
        <WhenLoaded reply={uses} rows={1}>
          {({ strategies }) => strategies.length > 0 && <Uses uses={strategies} />}
        </WhenLoaded>
      </Card>
    </>
  );
}

/** All values of a constraint whose description shortens the list. */
function AllValues({
  constraint: { values = [] },
  number,
}: {
  readonly constraint: Constraint;
  readonly number: number;
}) {
  if (values.length <= 3) return null;
  return (
    <Details summary={`All ${plural(values.length, 'value')}`}>
      {() => <LongList name={`Constraint ${number}`} values={values} />}
    </Details>
  );
}

const SHOWN = 50;

/** The flags that use a segment, with the environments of their strategies. */
function Uses({ uses }: { readonly uses: readonly SegmentUse[] }) {
  const byFlag = new Map<string, Set<string>>();
  for (const { projectId, featureName, environment } of uses) {
    const key = JSON.stringify([projectId, featureName]);
    byFlag.set(key, (byFlag.get(key) ?? new Set()).add(environment));
  }
  const flags = [...byFlag];
  return (
    <ul class="uses">
      {flags.slice(0, SHOWN).map(([key, environments]) => {
        const [project, flag] = JSON.parse(key);
        return (
          <li key={key}>
            <Link to={['projects', project, 'flags', flag]}>{flag}</Link>
            {[...environments].map((environment) => (
              <Link
                key={environment}
                class="tag"
                label={`${flag} in ${environment}`}
                to={['projects', project, 'flags', flag, environment]}
              >
                {environment}
              </Link>
            ))}
          </li>
        );
      })}
      {flags.length > SHOWN && <li class="muted">and {plural(flags.length - SHOWN, 'more flag')}</li>}
    </ul>
  );
}
