import { describeCondition } from '@flags/core/admin';
import { useResource } from '../../api/resource.js';
import type { Segment } from '../../api/types.js';
import { Button, Link } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { ListScreen } from '../../parts/list/list-screen.js';
import { currentProject, href, navigate } from '../../router.js';
import { projectName } from '../../state/projects.js';

/** All segments: groups of users that strategies share. */
export function SegmentsScreen() {
  const reply = useResource('listSegments', {});
  return (
    <ListScreen
      title="Segments"
      noun="segment"
      reply={reply}
      items={reply.data?.segments}
      keyOf={({ id }) => id}
      textOf={({ name, description }) => `${name} ${description}`}
      columns={[
        { title: 'Name', cell: (segment) => <SegmentName segment={segment} /> },
        { title: 'Who is in it', class: () => 'names', cell: (segment) => <WhoIsIn segment={segment} /> },
        {
          title: 'Project',
          isNamed: true,
          cell: ({ project }) => (project === null ? <span class="muted">all</span> : projectName(project)),
        },
      ]}
      empty={{
        title: 'No segments yet',
        text: 'A segment names a group of users once, such as “EU” or “beta testers”. Strategies of all flags share it.',
      }}
      create={
        <Button
          class="primary"
          needs={['createSegment', 'applyChanges']}
          project={currentProject()}
          onClick={() => navigate(href(['segments', 'new']))}
        >
          <Icon name="plus" /> New segment
        </Button>
      }
    />
  );
}

function SegmentName({ segment: { id, name, description } }: { readonly segment: Segment }) {
  return (
    <>
      <Link to={['segments', id]} query={{ q: undefined }}>
        {name}
      </Link>
      {description && <small>{description}</small>}
    </>
  );
}

function WhoIsIn({ segment: { constraints } }: { readonly segment: Segment }) {
  if (constraints.length === 0) return <span class="muted">everybody</span>;
  return (
    <>
      {constraints.slice(0, 3).map((constraint, index) => (
        <div key={index}>
          <b>{constraint.contextName}</b> {describeCondition(constraint)}
        </div>
      ))}
      {constraints.length > 3 && <span class="muted">and {constraints.length - 3} more</span>}
    </>
  );
}
