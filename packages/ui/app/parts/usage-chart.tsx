import { useResource } from '../api/resource.js';
import { sumByHour } from '../model/usage.js';
import { offers } from '../state/session.js';
import { compact, number, plural } from '../words.js';
import { Empty } from './states.js';

const HOURS = 48;
const HEIGHT = 80;

/** Evaluations of a flag by hour and environment: on and off, one bar per hour. */
export function UsageChart({ project, flag }: { readonly project: string; readonly flag: string }) {
  const request = { params: { flag }, query: { hours: HOURS } };
  const { data } = useResource('listFlagUsage', offers('listFlagUsage', project) ? request : undefined);
  if (data === undefined) return null;
  const environments = [...new Set(data.usage.map(({ environment }) => environment))].sort();
  if (environments.length === 0) {
    return <Empty title="No evaluations in 48 hours">Applications that use this flag report them by themselves.</Empty>;
  }
  return (
    <div class="usage">
      {environments.map((environment) => {
        const sums = sumByHour(
          data.usage.filter((row) => row.environment === environment),
          HOURS,
          Date.now(),
        );
        const yes = sums.reduce((sum, hour) => sum + hour.yes, 0);
        const no = sums.reduce((sum, hour) => sum + hour.no, 0);
        const most = Math.max(1, ...sums.map((hour) => hour.yes + hour.no));
        return (
          <figure key={environment}>
            <figcaption>
              <strong>{environment}</strong>
              <span class="key on" aria-hidden="true" /> {compact(yes)} on
              <span class="key off" aria-hidden="true" /> {compact(no)} off
            </figcaption>
            <svg
              viewBox={`0 0 ${HOURS * 8} ${HEIGHT}`}
              preserveAspectRatio="none"
              role="img"
              aria-label={`${environment}: ${plural(yes, 'evaluation')} on and ${number(no)} off in 48 hours`}
            >
              {sums.map((hour, index) => {
                const on = (hour.yes / most) * HEIGHT;
                const off = (hour.no / most) * HEIGHT;
                return (
                  <g key={index}>
                    <rect class="on" x={index * 8} y={HEIGHT - on} width="6" height={on} />
                    <rect class="off" x={index * 8} y={HEIGHT - on - off} width="6" height={off} />
                  </g>
                );
              })}
            </svg>
            <p class="span" aria-hidden="true">
              <span>{HOURS} hours ago</span>
              <span>now</span>
            </p>
          </figure>
        );
      })}
    </div>
  );
}
