import { useResource } from '../api/resource.js';
import { Heading } from '../parts/heading.js';
import { Empty, Fault, Loading } from '../parts/states.js';
import { Timeline } from '../parts/timeline.js';

/** What has changed in all projects. */
export function HistoryScreen() {
  const { data, error } = useResource('listHistory', { query: { limit: 50 } });
  return (
    <section>
      <div class="screen-head">
        <Heading title="History" />
      </div>
      {error && <Fault error={error} />}
      {!data && !error && <Loading />}
      {data && data.changes.length === 0 && <Empty title="Nothing has changed yet" />}
      {data && <Timeline entries={data.changes} isGlobal />}
    </section>
  );
}
