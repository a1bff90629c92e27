import type { Change, PreviewedFlag, Strategy } from '../api/types.js';
import { rolloutOf } from '../model/describe.js';
import { usePreview } from '../state/preview.js';
import { useExplanations, viewAs } from '../state/view-as.js';
import { answer, bucketText, number, reason, why } from '../words.js';
import { AnswerText } from './answer.js';
import { DraftAnswer } from './draft-answer.js';
import { Counts, isChanged, OtherUsers, PreviewFrame, UserTable, usersOf } from './preview-parts.js';
import { Fault } from './states.js';

interface PreviewPanelProps {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
  readonly changes: readonly Change[];
  readonly strategies: readonly Strategy[];
  /** What is missing in the draft. */
  readonly missing: string | undefined;
}

/** The sampled users whose evaluation the draft changes: their number, and a list. */
export function PreviewPanel({ project, flag, environment, changes, strategies, missing }: PreviewPanelProps) {
  const { flags, error, isCurrent } = usePreview(changes, environment);
  const own = flags?.find((one) => one.flag === flag);
  const others = flags?.filter((one) => one.flag !== flag) ?? [];
  return (
    <PreviewFrame>
      {error && error.status !== 404 && <Fault error={error} />}
      {missing !== undefined && <p class="muted">{missing}</p>}
      {changes.length === 0 && missing === undefined && (
        <p class="muted">Change a strategy: this shows who gets the flag then, before it is saved.</p>
      )}
      <div role="status" aria-live="polite" class={isCurrent ? '' : 'waiting'}>
        {own && <Counts previewed={own} />}
        {changes.length > 0 && flags && own === undefined && <p>Nobody changes in {environment}.</p>}
        {others
          .filter(({ contexts, missing }) => missing.size > 0 || contexts.some(isChanged))
          .map((child) => (
            <Counts key={child.flag} previewed={child} name={`${child.flag}, which depends on it`} />
          ))}
      </div>
      {flags && <OtherUsers flags={flags} />}
      {own && <Buckets previewed={own} strategies={strategies} />}
      {own && <People previewed={own} />}
      <Viewed project={project} flag={flag} environment={environment} />
      <DraftAnswer flag={flag} environment={environment} changes={changes} />
    </PreviewFrame>
  );
}

/** The preview contains the buckets, so moving the slider needs no request. */
function Buckets({
  previewed,
  strategies,
}: {
  readonly previewed: PreviewedFlag;
  readonly strategies: readonly Strategy[];
}) {
  const { contexts } = previewed;
  return (
    <>
      {strategies.map((strategy, index) => {
        const rollout = rolloutOf(strategy);
        if (strategy.id === undefined || rollout === undefined) return null;
        const buckets = contexts.flatMap((context) => context.buckets.filter((one) => one.strategy === strategy.id));
        const inside = buckets.filter(({ bucket }) => bucket !== null && bucket <= rollout).length;
        return (
          <p key={strategy.id} class="muted">
            Strategy {index + 1}: {number(inside)} of {number(buckets.length)} in the rollout of {rollout} %
          </p>
        );
      })}
    </>
  );
}

/** Changed users come first. */
function People({ previewed }: { readonly previewed: PreviewedFlag }) {
  const users = usersOf(previewed).toSorted((one, other) => Number(isChanged(other)) - Number(isChanged(one)));
  return (
    <UserTable
      label="Users"
      users={users}
      column="Why"
      cell={({ buckets, after }) => (buckets.length > 0 ? buckets.map(bucketText).join(', ') : reason(after.reason))}
    />
  );
}

/** The stored state for the context of *View as*. */
function Viewed({ project, flag, environment }: Pick<PreviewPanelProps, 'project' | 'flag' | 'environment'>) {
  const context = viewAs.value;
  const explained = useExplanations(project, environment)?.get(flag);
  if (!context || !explained) return null;
  return (
    <p class="viewed">
      For {context.userId ?? 'this context'}, it is now{' '}
      <AnswerText isOn={explained.enabled}>{answer(explained)}</AnswerText> <small>{why(explained)}</small>
    </p>
  );
}
