import { describeReason } from '@flags/core/admin';
import type { Change } from '../../api/types.js';
import { usePreview } from '../../state/preview.js';
import { drawnContext, viewAs } from '../../state/view-as.js';
import { answer, bucketText } from '../../words.js';
import { AnswerText } from '../control/answer.js';

interface DraftAnswerProps {
  readonly flag: string;
  readonly environment: string;
  readonly changes: readonly Change[];
}

/** Whether the flag would be on for the context of *View as* if the draft were saved, and why. */
export function DraftAnswer({ flag, environment, changes }: DraftAnswerProps) {
  const context = viewAs.value;
  const { flags } = usePreview(
    { changes: context ? changes : [] },
    environment,
    context && drawnContext(context).context,
  );
  const after = flags?.find((one) => one.flag === flag)?.contexts[0];
  if (context === undefined || after === undefined) return null;
  const buckets = after.buckets.map(bucketText).join(', ');
  return (
    <p class="viewed">
      With your draft, it is <AnswerText isOn={after.after.enabled}>{answer(after.after)}</AnswerText> for{' '}
      {context.userId ?? 'this context'}{' '}
      <small>{[describeReason(after.after.reason), buckets].filter(Boolean).join(', ')}</small>
    </p>
  );
}
