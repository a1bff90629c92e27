import { useResource } from '../api/resource.js';
import type { ApplicationSummary } from '../api/types.js';
import { strategyName } from '../model/describe.js';
import { ListScreen } from '../parts/list-screen.js';
import { href } from '../router.js';
import { ago, time } from '../words.js';

/** The applications that have evaluated flags within the last day. */
export function ApplicationsScreen() {
  const { data, error } = useResource('listApplications', {});
  return (
    <ListScreen
      title="Applications"
      noun="application"
      items={data?.applications}
      error={error}
      textOf={({ appName }) => appName}
      columns={['Name', 'Strategies', 'First seen']}
      row={(application) => <ApplicationRow key={application.appName} application={application} />}
      empty={{
        title: 'No application was seen within a day',
        text: 'Applications appear here by themselves as soon as their SDK registers or reports.',
      }}
    />
  );
}

function ApplicationRow({
  application: { appName, strategies, createdAt },
}: {
  readonly application: ApplicationSummary;
}) {
  return (
    <tr>
      <th scope="row">
        <a href={href(['applications', appName], { q: undefined })}>{appName}</a>
      </th>
      <td>
        {strategies.length === 0 ? (
          <span class="muted">none named</span>
        ) : (
          <>
            {strategies.slice(0, 4).map(strategyName).join(', ')}
            {strategies.length > 4 && <span class="muted"> and {strategies.length - 4} more</span>}
          </>
        )}
      </td>
      <td data-label="First seen">
        <time dateTime={createdAt} title={time(createdAt)}>
          {ago(createdAt)}
        </time>
      </td>
    </tr>
  );
}
