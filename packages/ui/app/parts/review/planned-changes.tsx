import { describeEffects } from '@flags/core/admin';
import { useMemo, useRef } from 'preact/hooks';
import type { Plan } from '../../api/types.js';
import { effectTable } from '../../model/effect-table.js';
import { type PreviewSubject, usePreview } from '../../state/preview.js';
import { describeUsers } from '../../state/samples.js';
import { reviewScope } from '../../state/session.js';
import { plural } from '../../words.js';
import { Details } from '../control/controls.js';
import { PreviewResult } from '../preview/preview-parts.js';
import { Differences } from './differences.js';
import { Effects } from './effect-table.js';
import { RequestedRollouts } from './requested-rollouts.js';

interface PlannedChangesProps {
  /** Undefined if the caller may not plan. */
  readonly plan: Plan | undefined;
  readonly changes: PreviewSubject['changes'];
  /** The id of the change set to undo, instead of changes. */
  readonly undoes?: string | undefined;
  /** A sentence on the changes. */
  readonly text?: string | undefined;
  /** Requests no further previews: the service would refuse a preview of changes that were just applied or undone. */
  readonly isFixed?: boolean;
}

/** Returns the effects of a plan as a table, if they concern several flags or environments. */
export function useEffectTable(plan: Plan | undefined) {
  return useMemo(() => {
    const changed = (plan?.documents ?? []).filter(({ kind }) => kind === 'flag').map(({ id }) => id);
    const table = effectTable(plan?.effects ?? [], changed, reviewScope.value);
    return { table, isTable: table.environments.length > 0 && table.environments.length * table.rows.length > 1 };
  }, [plan]);
}

/** The effects of planned changes. The author sees them in the review, the approver in the request. */
export function PlannedChanges({ plan, changes, undoes, text, isFixed = false }: PlannedChangesProps) {
  const { table, isTable } = useEffectTable(plan);
  const documents = plan?.documents ?? [];
  const proposed = { changes, undoes: undoes === undefined ? undefined : { id: undoes, documents } };
  const flags = documents.filter(({ kind }) => kind === 'flag');
  const isFolded = isTable && flags.length > 1;
  const environments = [...new Set(plan?.effects.map(({ environment }) => environment))];
  return (
    <>
      <Noticed plan={plan} isTable={isTable} />
      {text && <p>{text}</p>}
      {changes.length > 0 && <p class="muted">{plural(changes.length, 'change')}, one commit</p>}
      <RequestedRollouts changes={changes} documents={documents} />
      <Differences documents={isFolded ? documents.filter(({ kind }) => kind !== 'flag') : documents} />
      {isTable && <Effects table={table} proposed={proposed} isFixed={isFixed} />}
      {isFolded && (
        <Details summary={`All differences of ${plural(flags.length, 'flag')}`}>
          {() => <Differences documents={flags} />}
        </Details>
      )}
      {!isTable &&
        environments.map((environment) => (
          <Effect key={environment} proposed={proposed} environment={environment} isFixed={isFixed} />
        ))}
    </>
  );
}

interface NoticedProps {
  readonly plan: Plan | undefined;
  /** Whether a table has the effects. */
  readonly isTable: boolean;
}

/** The exact effects on clients, from the plan instead of sampled users. */
function Noticed({ plan, isTable }: NoticedProps) {
  if (plan === undefined) return <p class="muted">You may not see what clients would notice.</p>;
  const { effects, hiddenEffects } = plan;
  const hidden = `${plural(hiddenEffects, 'difference')} in flags that you may not read`;
  const lines = [...(isTable ? [] : describeEffects(effects)), ...(hiddenEffects > 0 ? [hidden] : [])];
  if (lines.length === 0) return isTable ? null : <p>Clients notice nothing.</p>;
  return (
    <ul class="noticed" aria-label="What clients notice">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

interface EffectProps {
  readonly proposed: PreviewSubject;
  readonly environment: string;
  readonly isFixed: boolean;
}

const NOTHING: PreviewSubject = { changes: [] };

/** How many of the sampled users change, in one environment. */
function Effect({ proposed, environment, isFixed }: EffectProps) {
  const current = usePreview(isFixed ? NOTHING : proposed, environment);
  const latest = useRef(current);
  if (!isFixed) latest.current = current;
  const preview = latest.current;
  const users = preview.flags?.find(({ missing }) => missing.size === 0)?.users;
  return (
    <div class="effect">
      <PreviewResult preview={preview} environment={environment} nameOf={(flag) => `${flag} in ${environment}`} />
      {users && (
        <p class="muted">
          Counted over {describeUsers(users)}
          {users.groups && `: ${users.groups}`}.
        </p>
      )}
    </div>
  );
}
