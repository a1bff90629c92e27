import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import { sumByPeriod } from '../../model/usage-sums.js';
import { type FlagUsage, USAGE_HOURS as HOURS } from '../../state/flag-usage.js';
import { offers } from '../../state/session.js';
import { compact, plural } from '../../words.js';

/** Rows that scroll past within this time do not send a request, in milliseconds. */
const DELAY = 200;

interface SparklineProps {
  readonly project: string;
  readonly flag: string;
  readonly usage: FlagUsage;
}

/** Evaluations of a flag in the last 24 hours, one bar per hour. */
export function Sparkline({ project, flag, usage }: SparklineProps) {
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), DELAY);
    return () => clearTimeout(timer);
  }, []);
  const isAsked = usage === 'single' && isDue && offers('listFlagUsage', project);
  const single = useResource('listFlagUsage', isAsked ? { params: { flag }, query: { hours: HOURS } } : undefined);
  const rows = typeof usage === 'string' ? single.data?.usage : usage;
  if (rows === undefined) return <span class="sparkline" />;
  const sums = sumByPeriod(rows, HOURS, Date.now());
  const total = sums.reduce((sum, { yes, no }) => sum + yes + no, 0);
  const most = Math.max(1, ...sums.map(({ yes, no }) => yes + no));
  return (
    <span class="sparkline" title={`${plural(total, 'evaluation')} in 24 hours`}>
      <svg viewBox={`0 0 ${HOURS * 3} 16`} preserveAspectRatio="none" aria-hidden="true">
        <path d={sums.map(({ yes, no }, hour) => bar(hour, (yes + no) / most)).join('')} />
      </svg>
      <span class="hidden">{plural(total, 'evaluation')}</span>
      <span aria-hidden="true" class="sparkline-total">
        {total === 0 ? '' : compact(total)}
      </span>
    </span>
  );
}

/** One path for all bars keeps scrolling fast. Every hour with evaluations is visible. */
function bar(hour: number, share: number): string {
  if (share === 0) return '';
  const height = Math.max(1, Math.round(share * 160) / 10);
  return `M${hour * 3} 16v-${height}h2v${height}z`;
}
