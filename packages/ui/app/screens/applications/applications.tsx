import { strategyName } from '@flags/core/admin';
import { useResource } from '../../api/resource.js';
import { Ago } from '../../parts/control/answer.js';
import { Link } from '../../parts/control/controls.js';
import { ListScreen } from '../../parts/list/list-screen.js';

/** The applications that have evaluated flags within the last day. */
export function ApplicationsScreen() {
  const reply = useResource('listApplications', {});
  return (
    <ListScreen
      title="Applications"
      noun="application"
      reply={reply}
      items={reply.data?.applications}
      keyOf={({ appName }) => appName}
      textOf={({ appName }) => appName}
      columns={[
        {
          title: 'Name',
          cell: ({ appName }) => (
            <Link to={['applications', appName]} query={{ q: undefined }}>
              {appName}
            </Link>
          ),
        },
        { title: 'Strategies', cell: ({ strategies }) => <Strategies names={strategies} /> },
        { title: 'First seen', isNamed: true, cell: ({ createdAt }) => <Ago at={createdAt} /> },
      ]}
      empty={{
        title: 'No application was seen within a day',
        text: 'Applications appear here by themselves as soon as their SDK registers or reports.',
      }}
    />
  );
}

function Strategies({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <span class="muted">none named</span>;
  return (
    <>
      {names.slice(0, 4).map(strategyName).join(', ')}
      {names.length > 4 && <span class="muted"> and {names.length - 4} more</span>}
    </>
  );
}
