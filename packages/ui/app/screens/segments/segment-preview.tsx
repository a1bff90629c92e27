import { useState } from 'preact/hooks';
import type { Change, SegmentUse } from '../../api/types.js';
import { Select, sameText } from '../../parts/control/controls.js';
import { isChanged, PreviewFrame, UserTable, usersOf } from '../../parts/preview/preview-parts.js';
import { type Previewed, usePreview } from '../../state/preview.js';
import { defaultEnvironment } from '../../state/session.js';

interface SegmentPreviewProps {
  readonly changes: readonly Change[];
  readonly uses: readonly SegmentUse[];
  /** Description of the missing part of the draft. */
  readonly missing: string | undefined;
}

/** The users whose evaluation the draft of a segment changes, per flag that uses it and per dependent flag. */
export function SegmentPreview({ changes, uses, missing }: SegmentPreviewProps) {
  const environments = [...new Set(uses.map((use) => use.environment))];
  const [chosen, setChosen] = useState<string>();
  const environment = chosen ?? environments.find((name) => name === defaultEnvironment.value) ?? environments[0];
  const isAsked = missing === undefined && environment !== undefined && changes.length > 0;
  const preview = usePreview({ changes: isAsked ? changes : [] }, environment ?? '');
  const hint =
    environment === undefined
      ? 'No strategy uses this segment yet: nobody changes.'
      : 'Change a constraint: this shows who gets other flags then, before it is saved.';
  return (
    <PreviewFrame
      preview={preview}
      environment={environment ?? ''}
      nameOf={(flag) => flag}
      missing={missing}
      hint={isAsked ? undefined : hint}
      head={
        environments.length > 1 && (
          <label class="inline-field">
            Environment
            <Select value={environment ?? ''} options={sameText(environments)} onChange={setChosen} />
          </label>
        )
      }
    >
      <ChangedUsers flags={preview.flags ?? []} />
    </PreviewFrame>
  );
}

function ChangedUsers({ flags }: { readonly flags: readonly Previewed[] }) {
  const users = flags.flatMap((previewed) =>
    usersOf(previewed)
      .filter(isChanged)
      .map((user) => ({ ...user, flag: previewed.flag })),
  );
  if (users.length === 0) return null;
  return <UserTable label="Users who change" users={users} column="Flag" cell={({ flag }) => flag} />;
}
