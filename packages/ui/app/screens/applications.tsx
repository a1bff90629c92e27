import { useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import { Heading } from '../parts/heading.js';
import { SearchBox } from '../parts/search-box.js';
import { Empty, Fault, Loading } from '../parts/states.js';
import { href, query } from '../router.js';
import { ago, plural, strategyName, time } from '../words.js';

const PAGE = 100;

/** The applications that have evaluated flags within the last day. */
export function ApplicationsScreen() {
  const { data, error } = useResource('listApplications', {});
  const [shown, setShown] = useState(PAGE);
  const search = (query.value.get('q') ?? '').toLowerCase();
  const all = data?.applications ?? [];
  const found = all.filter(({ appName }) => appName.toLowerCase().includes(search));
  return (
    <section>
      <div class="screen-head">
        <Heading title="Applications" />
      </div>
      {error && <Fault error={error} />}
      {!data && !error && <Loading />}
      {data && all.length === 0 && (
        <Empty title="No application was seen within a day">
          <p>Applications appear here by themselves as soon as their SDK registers or reports.</p>
        </Empty>
      )}
      {all.length > 0 && (
        <>
          <SearchBox label="Filter applications" />
          <p class="count" role="status">
            {search === ''
              ? plural(all.length, 'application')
              : `${found.length} of ${plural(all.length, 'application')}`}
          </p>
          <table class="list">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Strategies</th>
                <th scope="col">First seen</th>
              </tr>
            </thead>
            <tbody>
              {found.slice(0, shown).map(({ appName, strategies, createdAt }) => (
                <tr key={appName}>
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
                  <td>
                    <time dateTime={createdAt} title={time(createdAt)}>
                      {ago(createdAt)}
                    </time>
                  </td>
                </tr>
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
