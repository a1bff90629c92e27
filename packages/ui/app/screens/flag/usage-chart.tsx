import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { UsageRow } from '../../api/types.js';
import { DAY, HOUR, sumByPeriod, sumByVariant } from '../../model/usage-sums.js';
import { Link, Segmented } from '../../parts/control/controls.js';
import { Card } from '../../parts/frame/screen.js';
import { offers } from '../../state/session.js';
import { compact, number, plural, time } from '../../words.js';

/** The ranges of the chart, and the period of each bar. */
const RANGES = [
  { text: '48 hours', count: 48, length: HOUR, query: { hours: 48 } },
  { text: '7 days', count: 7, length: DAY, query: { days: 7 } },
  { text: '30 days', count: 30, length: DAY, query: { days: 30 } },
] as const;
type Range = (typeof RANGES)[number];

const HEIGHT = 80;
const WIDTH = 384;

interface UsageProps {
  readonly project: string;
  readonly flag: string;
}

/** The evaluations of a flag, and the applications that use it. One line without any. */
export function UsageSection({ project, flag }: UsageProps) {
  const [range, setRange] = useState<Range>(RANGES[0]);
  const hasUsage = offers('listFlagUsage', project);
  const request = { params: { flag }, query: range.query };
  const { data } = useResource('listFlagUsage', hasUsage ? request : undefined);
  const rows = data?.usage.filter(({ yes, no }) => yes + no > 0) ?? [];
  const applications = useResource('listApplicationsByFlag', {}).data;
  const apps = applications === undefined ? [] : (new Map(Object.entries(applications)).get(flag) ?? []);
  if (!hasUsage && apps.length === 0) return null;
  const notes = [
    ...(apps.length > 0 ? [`Used by ${plural(apps.length, 'application')}`] : []),
    ...(data && rows.length === 0 ? [`No evaluations in ${range.text}: applications report them by themselves`] : []),
  ];
  const picker = hasUsage && (
    <Segmented
      legend="Period of the usage"
      name="usage"
      value={range.text}
      options={RANGES.map(({ text }) => [text, text])}
      onChange={(text) => setRange(RANGES.find((one) => one.text === text) ?? RANGES[0])}
    />
  );
  return (
    <Card title="Usage" note={notes.join('. ')} actions={picker}>
      {rows.length > 0 && <UsageChart range={range} rows={rows} />}
      {apps.length > 0 && (
        <p class="chips">
          {apps.map(({ appName, updatedAt }) => (
            <Link key={appName} class="tag" title={time(updatedAt)} to={['applications', appName]}>
              {appName}
            </Link>
          ))}
        </p>
      )}
    </Card>
  );
}

/** Evaluations by environment, and by variant: on and off, one bar per hour or day. */
function UsageChart({ range, rows }: Omit<EnvironmentUsageProps, 'environment'>) {
  const environments = [...new Set(rows.map(({ environment }) => environment))].sort();
  return (
    <div class="usage">
      {environments.map((environment) => (
        <EnvironmentUsage
          key={environment}
          environment={environment}
          range={range}
          rows={rows.filter((row) => row.environment === environment)}
        />
      ))}
    </div>
  );
}

interface EnvironmentUsageProps {
  readonly environment: string;
  readonly range: Range;
  readonly rows: readonly UsageRow[];
}

function EnvironmentUsage({ environment, range: { text, count, length }, rows }: EnvironmentUsageProps) {
  const sums = sumByPeriod(rows, count, Date.now(), length);
  const yes = sums.reduce((sum, period) => sum + period.yes, 0);
  const no = sums.reduce((sum, period) => sum + period.no, 0);
  const most = Math.max(1, ...sums.map((period) => period.yes + period.no));
  const step = WIDTH / count;
  return (
    <figure>
      <figcaption>
        <strong>{environment}</strong>
        <span class="key on" aria-hidden="true" /> {compact(yes)} on
        <span class="key off" aria-hidden="true" /> {compact(no)} off
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${environment}: ${plural(yes, 'evaluation')} on and ${number(no)} off in ${text}`}
      >
        {sums.map((period, index) => {
          const on = (period.yes / most) * HEIGHT;
          const off = (period.no / most) * HEIGHT;
          const bar = { x: index * step, width: step * 0.75 };
          return (
            <g key={index}>
              <rect class="on" {...bar} y={HEIGHT - on} height={on} />
              <rect class="off" {...bar} y={HEIGHT - on - off} height={off} />
            </g>
          );
        })}
      </svg>
      <p class="span" aria-hidden="true">
        <span>{text} ago</span>
        <span>{length === DAY ? 'today' : 'now'}</span>
      </p>
      {sumByVariant(rows).map(([name, times]) => (
        <p key={name} class="muted">
          Variant <b>{name}</b>: {number(times)}
        </p>
      ))}
    </figure>
  );
}
