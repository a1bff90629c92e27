import { useResource } from '../api/resource.js';
import type { Segment } from '../api/types.js';
import { describeConstraint } from '../model/describe.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { Icon } from '../parts/icons.js';
import { ListScreen } from '../parts/list-screen.js';
import { currentProject, href, navigate } from '../router.js';
import { useProjectNames } from '../state/projects.js';

/** All segments: groups of users that strategies share. */
export function SegmentsScreen() {
  const { data, error } = useResource('listSegments', {});
  return (
    <ListScreen
      title="Segments"
      noun="segment"
      items={data?.segments}
      error={error}
      textOf={({ name, description }) => `${name} ${description}`}
      columns={['Name', 'Who is in it', 'Project']}
      row={(segment) => <SegmentRow key={segment.id} segment={segment} />}
      empty={{
        title: 'No segments yet',
        text: 'A segment names a group of users once, such as “EU” or “beta testers”. Strategies of all flags share it.',
      }}
      create={
        <AllowedButton
          class="primary"
          needs={['createSegment', 'applyChanges']}
          project={currentProject()}
          onClick={() => navigate(href(['segments', 'new']))}
        >
          <Icon name="plus" /> New segment
        </AllowedButton>
      }
    />
  );
}

function SegmentRow({ segment: { id, name, description, constraints, project } }: { readonly segment: Segment }) {
  const projectName = useProjectNames();
  return (
    <tr>
      <th scope="row">
        <a href={href(['segments', id], { q: undefined })}>{name}</a>
        {description && <small>{description}</small>}
      </th>
      <td class="names">
        {constraints.length === 0 && <span class="muted">everybody</span>}
        {constraints.slice(0, 3).map((constraint, index) => (
          <div key={index}>
            <b>{constraint.contextName}</b> {describeConstraint(constraint)}
          </div>
        ))}
        {constraints.length > 3 && <span class="muted">and {constraints.length - 3} more</span>}
      </td>
      <td data-label="Project">{project === null ? <span class="muted">all</span> : projectName(project)}</td>
    </tr>
  );
}
