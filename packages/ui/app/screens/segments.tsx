import { useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import type { Segment } from '../api/types.js';
import { describeConstraint } from '../model/describe.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { Heading } from '../parts/heading.js';
import { Icon } from '../parts/icons.js';
import { currentProject } from '../parts/layout.js';
import { SearchBox } from '../parts/search-box.js';
import { Empty, Fault, Loading } from '../parts/states.js';
import { href, navigate, query } from '../router.js';
import { plural } from '../words.js';

const PAGE = 100;

/** All segments: groups of users that strategies share. */
export function SegmentsScreen() {
  const { data, error } = useResource('listSegments', {});
  const [shown, setShown] = useState(PAGE);
  const search = (query.value.get('q') ?? '').toLowerCase();
  const all = data?.segments ?? [];
  const found = all.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(search));
  const create = (
    <AllowedButton
      class="primary"
      needs={['createSegment', 'applyChanges']}
      project={currentProject()}
      onClick={() => navigate(href(['segments', 'new']))}
    >
      <Icon name="plus" /> New segment
    </AllowedButton>
  );
  return (
    <section>
      <div class="screen-head">
        <Heading title="Segments" />
        <span class="stretch" />
        {all.length > 0 && create}
      </div>
      {error && <Fault error={error} />}
      {!data && !error && <Loading />}
      {data && all.length === 0 && (
        <Empty title="No segments yet">
          <p>
            A segment names a group of users once, such as “EU” or “beta testers”. Strategies of all flags share it.
          </p>
          {create}
        </Empty>
      )}
      {all.length > 0 && (
        <>
          <SearchBox label="Filter segments" />
          <p class="count" role="status">
            {search === '' ? plural(all.length, 'segment') : `${found.length} of ${plural(all.length, 'segment')}`}
          </p>
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Who is in it</th>
                <th scope="col">Project</th>
              </tr>
            </thead>
            <tbody>
              {found.slice(0, shown).map((segment) => (
                <SegmentRow key={segment.id} segment={segment} />
              ))}
            </tbody>
          </table>
          {found.length > shown && (
            <button type="button" onClick={() => setShown(shown + PAGE)}>
              Show more
            </button>
          )}
        </>
      )}
    </section>
  );
}

function SegmentRow({ segment: { id, name, description, constraints, project } }: { readonly segment: Segment }) {
  return (
    <tr>
      <th scope="row">
        <a href={href(['segments', id], { q: undefined })}>{name}</a>
        {description && <small>{description}</small>}
      </th>
      <td>
        {constraints.length === 0 && <span class="muted">everybody</span>}
        {constraints.slice(0, 3).map((constraint, index) => (
          <div key={index}>
            <b>{constraint.contextName}</b> {describeConstraint(constraint)}
          </div>
        ))}
        {constraints.length > 3 && <span class="muted">and {constraints.length - 3} more</span>}
      </td>
      <td>{project ?? <span class="muted">all</span>}</td>
    </tr>
  );
}
