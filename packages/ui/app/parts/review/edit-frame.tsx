import { compareStates } from '@flags/core/admin';
import type { ComponentChildren } from 'preact';
import type { Change } from '../../api/types.js';
import { navigate } from '../../router.js';
import { propose } from '../../state/changes.js';
import type { Edit } from '../../state/edit.js';
import { plural } from '../../words.js';
import { Button } from '../control/controls.js';

interface EditFrameProps<T> {
  /** The edited document: "the segment EU". */
  readonly subject: string;
  readonly edit: Edit<T>;
  readonly changes: readonly Change[];
  /** The changes for a request, if they differ from those that are applied now. */
  readonly requested?: readonly Change[] | undefined;
  /** Description of the missing part of the draft. */
  readonly missing: string | undefined;
  readonly needs: readonly string[];
  readonly project: string;
  /** The message after the change. */
  readonly done: string;
  /** The address to go to after the change. */
  readonly back: string;
  readonly preview: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The editor of a draft: its fields, its preview, and the buttons that discard or review it. */
export function EditFrame<T>({
  subject,
  edit,
  changes,
  requested,
  missing,
  done,
  back,
  preview,
  children,
  ...may
}: EditFrameProps<T>) {
  const { draft, isKept, discard } = edit;
  const startReview = () =>
    propose({
      isReviewed: true,
      title: `Review changes of ${subject}`,
      changes,
      requested,
      done,
      onApplied: () => {
        discard();
        navigate(back);
      },
      mergesConflicts: true,
    });
  const count = changes.length === 0 ? 0 : compareStates(draft.base, draft.mine).length;
  return (
    <div class="editor">
      <div class="editor-main">
        {children}
        <footer class="editor-foot">
          <span class="muted">{count === 0 ? 'No changes' : plural(count, 'difference')}</span>
          <Button blocked={isKept ? undefined : 'There is no draft.'} onClick={discard}>
            Discard
          </Button>
          <Button
            {...may}
            class="primary"
            blocked={missing ?? (changes.length === 0 ? 'There are no changes yet.' : undefined)}
            onClick={startReview}
          >
            Review changes
          </Button>
        </footer>
      </div>
      {preview}
    </div>
  );
}
