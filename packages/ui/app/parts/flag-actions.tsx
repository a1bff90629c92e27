import { useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import type { FlagDetail } from '../api/types.js';
import { flagDifferences } from '../model/differences.js';
import { changesBetween } from '../model/flag-changes.js';
import { href, navigate } from '../router.js';
import { carryOut, propose } from '../state/changes.js';
import { may, session } from '../state/session.js';
import { flagType } from '../words.js';
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
  const [open, setOpen] = useState<Open>();
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

function DetailsDialog({ detail, revision, onClose }: FlagDialogProps) {
  const [form, setForm] = useState({
    description: detail.description ?? '',
    type: detail.type,
    owner: detail.owner ?? '',
    labels: (detail.labels ?? []).join(', '),
    impressionData: detail.impressionData,
  });
  const [error, setError] = useState<ApiError>();
  const types = session.value?.types?.map(({ name }) => name) ?? [detail.type];
  const set =
    (name: 'description' | 'type' | 'owner' | 'labels') =>
    (event: { readonly currentTarget: { readonly value: string } }) =>
      setForm({ ...form, [name]: event.currentTarget.value });
  const save = async (event: Event) => {
    event.preventDefault();
    const after: FlagDetail = {
      ...detail,
      description: form.description,
      type: form.type,
      impressionData: form.impressionData,
      owner: form.owner.trim() || null,
      labels: labelsOf(form.labels),
    };
    const changes = changesBetween(detail, after, revision);
    if (changes.length === 0) return onClose();
    const refusal = await carryOut({
      title: `Change details of ${detail.name}`,
      changes,
      differences: flagDifferences(detail, after),
      done: `The details of ${detail.name} were saved.`,
      onApplied: onClose,
    });
    setError(refusal);
  };
  return (
    <Dialog title={`Details of ${detail.name}`} onClose={onClose}>
      <form onSubmit={save}>
        <div class="dialog-body">
          <Field label="Description" fault={faultAt(error, '/description')}>
            {(ids) => <textarea {...ids} rows={3} value={form.description} onInput={set('description')} />}
          </Field>
          <Field label="Type" fault={faultAt(error, '/type')}>
            {(ids) => (
              <select {...ids} value={form.type} onChange={set('type')}>
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
              {(ids) => <input {...ids} autocomplete="off" value={form.owner} onInput={set('owner')} />}
            </Field>
            <Field label="Labels" hint="With commas between them" fault={faultAt(error, '/labels')}>
              {(ids) => <input {...ids} autocomplete="off" value={form.labels} onInput={set('labels')} />}
            </Field>
          </div>
          <label class="checkbox">
            <input
              type="checkbox"
              checked={form.impressionData}
              onChange={({ currentTarget }) => setForm({ ...form, impressionData: currentTarget.checked })}
            />
            SDKs report impressions
          </label>
          {error && <Fault error={error} />}
        </div>
        <footer class="dialog-foot">
          <button type="button" onClick={onClose}>
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
