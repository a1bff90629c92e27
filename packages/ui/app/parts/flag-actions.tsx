import { useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import type { FlagDetail } from '../api/types.js';
import { href, navigate } from '../router.js';
import { carryOut, propose } from '../state/changes.js';
import { may } from '../state/session.js';
import { Confirm, FormDialog } from './dialog.js';
import { Field, faultAt } from './field.js';
import { FlagFields } from './flag-fields.js';
import { FlagForm, hasFlagDraft } from './flag-form.js';

interface FlagActionsProps {
  readonly detail: FlagDetail;
  readonly revision: number;
}

type Open = 'details' | 'clone' | 'archive' | undefined;

/** What can be done with a whole flag. */
export function FlagActions({ detail, revision }: FlagActionsProps) {
  const [open, setOpen] = useState<Open>(hasFlagDraft(detail.name, 'details') ? 'details' : undefined);
  const { name, project, stale, archived } = detail;
  const close = () => setOpen(undefined);
  if (archived) return null;
  const ref = { project, flag: name };
  return (
    <span class="actions">
      <Action label="Details…" permission="updateFlag" project={project} onClick={() => setOpen('details')} />
      <Action
        label={stale ? 'Mark not stale' : 'Mark stale'}
        permission="updateFlag"
        project={project}
        onClick={() =>
          void propose({
            title: `Mark ${name} ${stale ? 'not stale' : 'stale'}`,
            changes: [{ op: 'updateFlag', ref, input: { stale: !stale }, ifRevision: revision }],
            done: `${name} is marked ${stale ? 'not stale' : 'stale'}.`,
          })
        }
      />
      <Action label="Clone…" permission="cloneFlag" project={project} onClick={() => setOpen('clone')} />
      <Action label="Archive…" permission="archiveFlag" project={project} onClick={() => setOpen('archive')} />
      {open === 'details' && <DetailsDialog detail={detail} revision={revision} onClose={close} />}
      {open === 'clone' && <CloneDialog detail={detail} revision={revision} onClose={close} />}
      {open === 'archive' && (
        <Confirm
          title={`Archive ${name}`}
          text={`${name} will be off everywhere. You can revive it from the archive.`}
          confirm={`Confirm: archive ${name}`}
          onConfirm={() =>
            propose({
              title: `Archive ${name}`,
              changes: [{ op: 'archiveFlag', ref, ifRevision: revision }],
              done: `${name} was archived.`,
            })
          }
          onClose={close}
        />
      )}
    </span>
  );
}

interface ActionProps {
  readonly label: string;
  readonly permission: string;
  readonly project: string;
  readonly onClick: () => void;
}

function Action({ label, permission, project, onClick }: ActionProps) {
  const isAllowed = may(permission, project);
  return (
    <button
      type="button"
      aria-disabled={!isAllowed}
      title={isAllowed ? undefined : `Needs the permission ${permission}`}
      onClick={() => isAllowed && onClick()}
    >
      {label}
    </button>
  );
}

interface FlagDialogProps extends FlagActionsProps {
  readonly onClose: () => void;
}

function DetailsDialog(props: FlagDialogProps) {
  return (
    <FlagForm {...props} part="details">
      {({ mine, error, edit }) => (
        <>
          <FlagFields
            values={{ ...mine, description: mine.description ?? '', owner: mine.owner ?? '' }}
            error={error}
            onChange={edit}
          />
          <label class="checkbox">
            <input
              type="checkbox"
              checked={mine.impressionData}
              onChange={({ currentTarget }) => edit({ impressionData: currentTarget.checked })}
            />
            SDKs report impressions
          </label>
        </>
      )}
    </FlagForm>
  );
}

function CloneDialog({ detail, revision, onClose }: FlagDialogProps) {
  const [text, setText] = useState(`${detail.name}-copy`);
  const [error, setError] = useState<ApiError>();
  const clone = async () => {
    const name = text.trim();
    const ref = { project: detail.project, flag: detail.name };
    const refusal = await carryOut({
      title: `Clone ${detail.name}`,
      changes: [{ op: 'cloneFlag', ref, input: { name }, ifRevision: revision }],
      done: `${name} was created, off in every environment.`,
      onApplied: () => {
        onClose();
        navigate(href(['projects', detail.project, 'flags', name]));
      },
    });
    setError(refusal);
  };
  return (
    <FormDialog title={`Clone ${detail.name}`} submit="Clone flag" error={error} onSubmit={clone} onClose={onClose}>
      <p>The copy has all strategies and variants, and is off in every environment.</p>
      <Field label="Name of the copy" fault={faultAt(error, '/name')}>
        {(ids) => (
          <input
            {...ids}
            required
            autocomplete="off"
            spellcheck={false}
            maxLength={100}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
