import { describeReason } from '@flags/core/admin';
import type { Change, PreviewedFlag, Strategy } from '../../api/types.js';
import { rolloutOf } from '../../model/describe.js';
import { AnswerText } from '../../parts/control/answer.js';
import { DraftAnswer } from '../../parts/preview/draft-answer.js';
import { isChanged, PreviewFrame, UserTable, usersOf } from '../../parts/preview/preview-parts.js';
import { type Previewed, usePreview } from '../../state/preview.js';
import { useExplanations, viewAs } from '../../state/view-as.js';
import { answer, bucketText, number, why } from '../../words.js';

interface PreviewPanelProps {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
  readonly changes: readonly Change[];
  readonly strategies: readonly Strategy[];
  /** Description of the missing part of the draft. */
  readonly missing: string | undefined;
}

/** The sampled users whose evaluation the draft changes: their number, and a list. */
export function PreviewPanel({ project, flag, environment, changes, strategies, missing }: PreviewPanelProps) {
  const preview = usePreview({ changes }, environment);
  const own = preview.flags?.find((one) => one.flag === flag);
  const isShown = (one: Previewed) => one === own || one.missing.size > 0 || one.contexts.some(isChanged);
  return (
    <PreviewFrame
      preview={{ ...preview, flags: preview.flags?.filter(isShown) }}
      environment={environment}
      nameOf={(name) => (name === flag ? undefined : `${name}, which depends on it`)}
      missing={missing}
      hint={
        changes.length === 0 ? 'Change a strategy: this shows who gets the flag then, before it is saved.' : undefined
      }
    >
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
function People({ previewed }: { readonly previewed: Previewed }) {
  const users = usersOf(previewed).toSorted((one, other) => Number(isChanged(other)) - Number(isChanged(one)));
  return (
    <UserTable
      label="Users"
      users={users}
      column="Why"
      cell={({ buckets, after }) =>
        buckets.length > 0 ? buckets.map(bucketText).join(', ') : describeReason(after.reason)
      }
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
