import { useResource } from '../api/resource.js';
import { sumByHour } from '../model/usage.js';
import { offers } from '../state/session.js';
import { compact, plural } from '../words.js';

const HOURS = 24;

/** Evaluations of a flag in the last 24 hours, one bar per hour. */
export function Sparkline({ project, flag }: { readonly project: string; readonly flag: string }) {
  const request = { params: { flag }, query: { hours: HOURS } };
  const { data } = useResource('listFlagUsage', offers('listFlagUsage', project) ? request : undefined);
  if (data === undefined) return <span class="sparkline" />;
  const sums = sumByHour(data.usage, HOURS, Date.now());
  const total = sums.reduce((sum, { yes, no }) => sum + yes + no, 0);
  const most = Math.max(1, ...sums.map(({ yes, no }) => yes + no));
  return (
    <span class="sparkline" title={`${plural(total, 'evaluation')} in 24 hours`}>
      <svg viewBox={`0 0 ${HOURS * 3} 16`} preserveAspectRatio="none" aria-hidden="true">
        {sums.map(({ yes, no }, index) => {
          const height = total === 0 ? 0 : Math.max(yes + no > 0 ? 1 : 0, ((yes + no) / most) * 16);
          return <rect key={index} x={index * 3} y={16 - height} width="2" height={height} />;
        })}
      </svg>
      <span class="hidden">{plural(total, 'evaluation')}</span>
      <span aria-hidden="true" class="sparkline-total">
        {total === 0 ? '' : compact(total)}
      </span>
    </span>
  );
}
