import { useRef } from 'preact/hooks';
import { type effectTable, effectText, type PlannedEffect } from '../../model/effect-table.js';
import { type Previewed, type PreviewSubject, usePreviews } from '../../state/preview.js';
import { describeUsers } from '../../state/samples.js';
import { Paged } from '../control/controls.js';
import { Fault } from '../frame/states.js';
import { Table } from '../list/table.js';
import { Flips, OtherUsers } from '../preview/preview-parts.js';

interface EffectsProps {
  readonly table: ReturnType<typeof effectTable>;
  readonly proposed: PreviewSubject;
  /** Requests no further previews: the service would refuse a preview of changes that were just applied or undone. */
  readonly isFixed: boolean;
}

/** The number of rows at first. */
const PAGE = 100;

/** What clients notice of several flags, or in several environments, and how many of the sampled users change. */
export function Effects({ table: { environments, rows }, proposed, isFixed }: EffectsProps) {
  const current = usePreviews(isFixed ? undefined : proposed, environments);
  const latest = useRef(current);
  if (!isFixed) latest.current = current;
  const { environments: previews, error, isCurrent } = latest.current;
  const hasCounts = error === undefined;
  const find = (environment: string, flag: string) => previews.get(environment)?.find((one) => one.flag === flag);
  return (
    <>
      {error && error.status !== 404 && <Fault error={error} />}
      <Paged items={rows} page={PAGE}>
        {(shown) => (
          <Table
            class="plain stacked effects"
            caption="What clients notice"
            items={shown}
            keyOf={({ flag }) => flag}
            columns={[
              { title: 'Flag', cell: ({ flag }) => flag },
              ...environments.map((environment) => ({
                title: environment,
                isNamed: true,
                cell: ({ flag, effects }: (typeof rows)[number]) => (
                  <EffectCell
                    effect={effects.get(environment)}
                    previewed={find(environment, flag)}
                    isCounting={hasCounts && !isCurrent && !previews.has(environment)}
                  />
                ),
              })),
            ]}
          />
        )}
      </Paged>
      {hasCounts && <Counted previews={previews} />}
    </>
  );
}

interface EffectCellProps {
  readonly effect: Pick<PlannedEffect, 'before' | 'after'> | undefined;
  readonly previewed: Previewed | undefined;
  readonly isCounting: boolean;
}

/** What clients notice of one flag in one environment. Muted where nobody has the flag before and after. */
function EffectCell({ effect, previewed, isCounting }: EffectCellProps) {
  if (effect === undefined) return <span class="muted">–</span>;
  if (effect.before !== 'on' && effect.after !== 'on') return <span class="muted">{effectText(effect)}</span>;
  return (
    <>
      {effectText(effect)} {previewed && <Flips previewed={previewed} />}
      {isCounting && <span class="muted">…</span>}
    </>
  );
}

/** Says what the numbers of the table count, and over whom: environments may need other users. */
function Counted({ previews }: { readonly previews: ReadonlyMap<string, readonly Previewed[]> }) {
  const flags = [...previews.values()].flat();
  const texts = new Map<string, string[]>();
  for (const [environment, previewed] of previews) {
    const users = previewed.find(({ missing }) => missing.size === 0)?.users;
    if (users === undefined) continue;
    const text = `${describeUsers(users)}${users.groups ? `: ${users.groups}` : ''}`;
    texts.set(text, [...(texts.get(text) ?? []), environment]);
  }
  return (
    <>
      <p class="muted" role="status">
        {texts.size > 0 && '+ become on, − become off, ~ get another variant.'}
        {[...texts].map(
          ([text, environments]) => ` Counted over ${text}${texts.size > 1 ? ` (${environments.join(', ')})` : ''}.`,
        )}
      </p>
      <OtherUsers flags={flags} />
    </>
  );
}
