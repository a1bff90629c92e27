import { useState } from 'preact/hooks';
import { ApiError } from '../../api/call.js';
import type { Change, ListedChangeRequest } from '../../api/types.js';
import { isOpen, plannedOf, type RequestedChange } from '../../model/change-request.js';
import { href, navigate } from '../../router.js';
import { projectFor } from '../../state/change-requests.js';
import { submit as startReview } from '../../state/changes.js';
import { DialogButton } from '../control/controls.js';
import { FormDialog } from '../form/dialog.js';
import { AreaField } from '../form/field.js';

interface CopyProps {
  readonly request: ListedChangeRequest;
  readonly title: string;
  readonly changes: readonly RequestedChange[];
}

/** Requests an edited copy. A copy of an open request replaces it: the open one ends in the same commit. */
export function CopyButton({ request, title, changes }: CopyProps) {
  const isReplaced = isOpen(request.state);
  const isRepeatable = request.state !== 'applied' && plannedOf(changes).changes.length === changes.length;
  if (!isRepeatable) return null;
  const needs = ['createChangeRequest', ...(isReplaced ? ['withdrawChangeRequest'] : [])];
  return (
    <DialogButton
      class="quiet"
      needs={needs}
      project={projectFor(request, 'createChangeRequest')}
      label={`${isReplaced ? 'Replace' : 'Request again'}: ${title}`}
      dialog={(close) => <CopyDialog request={request} title={title} changes={changes} onClose={close} />}
    >
      {isReplaced ? 'Replace…' : 'Request again…'}
    </DialogButton>
  );
}

function CopyDialog({ request, title, changes, onClose }: CopyProps & { readonly onClose: () => void }) {
  const { id, state, reason } = request;
  const isReplaced = isOpen(state);
  const [text, setText] = useState(() => JSON.stringify(changes, null, 2));
  const review = () =>
    startReview({
      title: isReplaced ? `Replace: ${title}` : title,
      changes: parseChanges(text),
      isReviewed: true,
      replaces: isReplaced ? id : undefined,
      ...(reason !== null && { reason }),
      done: 'The change was made.',
      onApplied: () => {
        onClose();
        if (isReplaced) navigate(href(['changes']));
      },
    });
  return (
    <FormDialog
      title={isReplaced ? `Replace: ${title}` : `Request again: ${title}`}
      size="large"
      submit="Review changes"
      onSubmit={review}
      onClose={onClose}
    >
      {isReplaced && (
        <p>The edited copy is a new request, and this one is withdrawn with it. Its approvals are not carried over.</p>
      )}
      <AreaField
        label="Changes"
        hint="As JSON: an operation, its reference and its input each. The review shows what they do."
        path="/changes"
        rows={16}
        value={text}
        onChange={setText}
      />
    </FormDialog>
  );
}

/** @throws ApiError for the form, if the text is not a list of changes */
function parseChanges(text: string): readonly Change[] {
  try {
    const changes: unknown = JSON.parse(text);
    if (Array.isArray(changes)) return changes;
    throw new SyntaxError('It is not a list.');
  } catch (error) {
    const message = `This is not a list of changes as JSON. ${(error as Error).message}`;
    throw new ApiError(400, 'invalid_input', message, [{ path: '/changes', message }]);
  }
}
