import { useState } from 'preact/hooks';
import type { Change, PreviewedFlag, SegmentUse } from '../api/types.js';
import { usePreview } from '../state/preview.js';
import { defaultEnvironment } from '../state/session.js';
import { Select, sameText } from './controls.js';
import { Counts, isChanged, OtherUsers, PreviewFrame, UserTable, usersOf } from './preview-parts.js';
import { Fault } from './states.js';

interface SegmentPreviewProps {
  readonly changes: readonly Change[];
  readonly uses: readonly SegmentUse[];
  /** What is missing in the draft. */
  readonly missing: string | undefined;
}

/** The users whose evaluation the draft of a segment changes, per flag that uses it and per dependent flag. */
export function SegmentPreview({ changes, uses, missing }: SegmentPreviewProps) {
  const environments = [...new Set(uses.map((use) => use.environment))];
  const [chosen, setChosen] = useState<string>();
  const environment = chosen ?? environments.find((name) => name === defaultEnvironment.value) ?? environments[0];
  const isAsked = missing === undefined && environment !== undefined;
  const { flags, error, isCurrent } = usePreview(isAsked ? changes : [], environment ?? '');
  return (
    <PreviewFrame>
      {environments.length > 1 && (
        <label class="inline-field">
          Environment
          <Select value={environment ?? ''} options={sameText(environments)} onChange={setChosen} />
        </label>
      )}
      {error && <Fault error={error} />}
      {missing !== undefined && <p class="muted">{missing}</p>}
      {uses.length === 0 && <p class="muted">No strategy uses this segment yet: nobody changes.</p>}
      {isAsked && changes.length === 0 && (
        <p class="muted">Change a constraint: this shows who gets other flags then, before it is saved.</p>
      )}
      <div role="status" aria-live="polite" class={isCurrent ? '' : 'waiting'}>
        {isAsked && changes.length > 0 && flags?.length === 0 && <p>Nobody changes in {environment}.</p>}
        {isAsked &&
          changes.length > 0 &&
          flags?.map((previewed) => <Counts key={previewed.flag} previewed={previewed} name={previewed.flag} />)}
      </div>
      {isAsked && flags && <OtherUsers flags={flags} />}
      {isAsked && flags && <ChangedUsers flags={flags} />}
    </PreviewFrame>
  );
}

function ChangedUsers({ flags }: { readonly flags: readonly PreviewedFlag[] }) {
  const users = flags.flatMap((previewed) =>
    usersOf(previewed)
      .filter(isChanged)
      .map((user) => ({ ...user, flag: previewed.flag })),
  );
  if (users.length === 0) return null;
  return <UserTable label="Users who change" users={users} column="Flag" cell={({ flag }) => flag} />;
}
