import { useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import type { FlagDetail } from '../api/types.js';
import { changesBetween } from '../model/flag-changes.js';
import { isEqual } from '../model/merge.js';
import { href, navigate } from '../router.js';
import { carryOut, propose } from '../state/changes.js';
import { draftOf } from '../state/drafts.js';
import { useFlagEdit } from '../state/flag-edit.js';
import { may, session } from '../state/session.js';
import { flagType } from '../words.js';
import { ConflictTable } from './conflict-table.js';
import { labelsOf } from './create-flag.js';
import { Confirm, Dialog } from './dialog.js';
import { Field, faultAt } from './field.js';
import { Fault } from './states.js';

interface FlagActionsProps {
  readonly detail: FlagDetail;
  readonly revision: number;
}

type Open = 'details' | 'clone' | 'archive' | undefined;

/** What can be done with a whole flag. */
export function FlagActions({ detail, revision }: FlagActionsProps) {
  const [open, setOpen] = useState<Open>(draftOf(draftKey(detail.name)) ? 'details' : undefined);
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
          isDanger
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

/** The key of the draft: it outlives a reload and a sign-in, which open the dialog again. */
const draftKey = (flag: string) => `${flag}#details`;

function DetailsDialog({ detail, revision, onClose }: FlagDialogProps) {
  const { draft, conflict, edit, discard } = useFlagEdit(draftKey(detail.name), detail, revision);
  const { mine } = draft;
  const [labelText, setLabelText] = useState((mine.labels ?? []).join(', '));
  const [error, setError] = useState<ApiError>();
  const types = session.value?.types?.map(({ name }) => name) ?? [detail.type];
  // What is being typed stays as it is, until a merge brings other labels.
  const isTyped = isEqual(labelsOf(labelText), mine.labels ?? []);
  const close = () => {
    discard();
    onClose();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    const after = { ...mine, owner: mine.owner?.trim() || null };
    const changes = changesBetween(draft.base, after, draft.revision);
    if (changes.length === 0) return close();
    const refusal = await carryOut({
      title: `Change details of ${detail.name}`,
      changes,
      done: `The details of ${detail.name} were saved.`,
      onApplied: close,
      // The newest state arrives; the draft merges with it, or the dialog shows the three columns.
      onConflict: () => undefined,
    });
    setError(refusal?.status === 412 ? undefined : refusal);
  };
  if (conflict) {
    return (
      <Dialog title={`Details of ${detail.name}`} size="large" onClose={close}>
        <div class="dialog-body">
          <ConflictTable flag={detail.name} conflict={conflict} />
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={`Details of ${detail.name}`} onClose={close}>
      <form onSubmit={save}>
        <div class="dialog-body">
          <Field label="Description" fault={faultAt(error, '/description')}>
            {(ids) => (
              <textarea
                {...ids}
                rows={3}
                value={mine.description ?? ''}
                onInput={({ currentTarget }) => edit({ ...mine, description: currentTarget.value })}
              />
            )}
          </Field>
          <Field label="Type" fault={faultAt(error, '/type')}>
            {(ids) => (
              <select
                {...ids}
                value={mine.type}
                onChange={({ currentTarget }) => edit({ ...mine, type: currentTarget.value })}
              >
                {types.map((type) => (
                  <option key={type} value={type}>
                    {flagType(type)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <div class="columns">
            <Field label="Owner" hint="A person or a team" fault={faultAt(error, '/owner')}>
              {(ids) => (
                <input
                  {...ids}
                  autocomplete="off"
                  value={mine.owner ?? ''}
                  onInput={({ currentTarget }) => edit({ ...mine, owner: currentTarget.value || null })}
                />
              )}
            </Field>
            <Field label="Labels" hint="With commas between them" fault={faultAt(error, '/labels')}>
              {(ids) => (
                <input
                  {...ids}
                  autocomplete="off"
                  value={isTyped ? labelText : (mine.labels ?? []).join(', ')}
                  onInput={({ currentTarget }) => {
                    setLabelText(currentTarget.value);
                    edit({ ...mine, labels: labelsOf(currentTarget.value) });
                  }}
                />
              )}
            </Field>
          </div>
          <label class="checkbox">
            <input
              type="checkbox"
              checked={mine.impressionData}
              onChange={({ currentTarget }) => edit({ ...mine, impressionData: currentTarget.checked })}
            />
            SDKs report impressions
          </label>
          {error && <Fault error={error} />}
        </div>
        <footer class="dialog-foot">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Save
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

function CloneDialog({ detail, revision, onClose }: FlagDialogProps) {
  const [name, setName] = useState(`${detail.name}-copy`);
  const [error, setError] = useState<ApiError>();
  const clone = async (event: Event) => {
    event.preventDefault();
    const refusal = await carryOut({
      title: `Clone ${detail.name}`,
      changes: [
        {
          op: 'cloneFlag',
          ref: { project: detail.project, flag: detail.name },
          input: { name: name.trim() },
          ifRevision: revision,
        },
      ],
      done: `${name.trim()} was created, off in every environment.`,
      onApplied: () => {
        onClose();
        navigate(href(['projects', detail.project, 'flags', name.trim()]));
      },
    });
    setError(refusal);
  };
  return (
    <Dialog title={`Clone ${detail.name}`} onClose={onClose}>
      <form onSubmit={clone}>
        <div class="dialog-body">
          <p>The copy has all strategies and variants, and is off in every environment.</p>
          <Field label="Name of the copy" fault={faultAt(error, '/name')}>
            {(ids) => (
              <input
                {...ids}
                required
                autocomplete="off"
                spellcheck={false}
                maxLength={100}
                value={name}
                onInput={({ currentTarget }) => setName(currentTarget.value)}
              />
            )}
          </Field>
          {error && <Fault error={error} />}
        </div>
        <footer class="dialog-foot">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Clone flag
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
