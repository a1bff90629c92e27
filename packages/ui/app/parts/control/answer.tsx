import type { ComponentChildren } from 'preact';
import type { ExplainedFlag } from '../../api/types.js';
import { answer, time, timeAgo, why } from '../../words.js';

interface AnswerTextProps {
  readonly isOn: boolean;
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** The answer of a flag, in the color of its state. */
export function AnswerText({ isOn, ...span }: AnswerTextProps) {
  return <span class={isOn ? 'answer on' : 'answer off'} {...span} />;
}

/** The answer of a flag for the context of *View as*, and why. */
export function ExplainedAnswer({
  explained,
  name,
}: {
  readonly explained: ExplainedFlag | undefined;
  readonly name?: string;
}) {
  if (explained === undefined) return <span class="muted">…</span>;
  return (
    <AnswerText isOn={explained.enabled} title={why(explained)}>
      {answer(explained)}
      {name && ` for ${name}`} <small>{why(explained)}</small>
    </AnswerText>
  );
}

/** A time, as the time since. */
export function Ago({ at, ...props }: { readonly at: string; readonly class?: string }) {
  return (
    <time {...props} dateTime={at} title={time(at)}>
      {timeAgo(at)}
    </time>
  );
}
