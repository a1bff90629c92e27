import { useState } from 'preact/hooks';
import type { FlagDetail } from '../../api/types.js';
import { Checkbox, DialogButton } from '../../parts/control/controls.js';
import { FlagFields } from '../../parts/flag/flag-fields.js';
import { ChangeButton } from '../../parts/form/change-button.js';
import { ChangeDialog } from '../../parts/form/dialog.js';
import { TextField } from '../../parts/form/field.js';
import { href, navigate } from '../../router.js';
import type { Proposal } from '../../state/changes.js';
import { plural } from '../../words.js';
import { FlagTags } from './dependencies-section.js';
import { FlagForm, hasFlagDraft } from './flag-form.js';

interface FlagActionsProps {
  readonly detail: FlagDetail;
  readonly revision: number;
}

/** The actions of a whole flag. */
export function FlagActions({ detail, revision }: FlagActionsProps) {
  const { name, project, stale, archived, children = [] } = detail;
  if (archived) return null;
  const ref = { project, flag: name };
  const archive: Proposal = {
    title: `Archive ${name}`,
    text: `${name} will be off everywhere. You can revive it from the archive.`,
    confirm: `Confirm: archive ${name}`,
    changes: [{ op: 'archiveFlag', ref, ifRevision: revision }],
    done: `${name} was archived.`,
  };
  const mark: Proposal = {
    title: `Mark ${name} ${stale ? 'not stale' : 'stale'}`,
    changes: [{ op: 'updateFlag', ref, input: { stale: !stale }, ifRevision: revision }],
    done: `${name} is marked ${stale ? 'not stale' : 'stale'}.`,
  };
  const dependents = (
    <>
      <p>{plural(children.length, 'flag depends', 'flags depend')} on it. Remove these dependencies first:</p>
      <p class="chips">
        <FlagTags project={project} names={children} />
      </p>
    </>
  );
  return (
    <>
      <DialogButton
        needs={['updateFlag']}
        project={project}
        isOpen={hasFlagDraft(name, 'details')}
        dialog={(close) => <DetailsDialog detail={detail} revision={revision} onClose={close} />}
      >
        Details…
      </DialogButton>
      <ChangeButton project={project} proposal={mark}>
        {stale ? 'Mark not stale' : 'Mark stale'}
      </ChangeButton>
      <DialogButton
        needs={['cloneFlag']}
        project={project}
        dialog={(close) => <CloneDialog detail={detail} revision={revision} onClose={close} />}
      >
        Clone…
      </DialogButton>
      <ChangeButton
        project={project}
        proposal={archive}
        obstacle={children.length > 0 && { title: `${name} cannot be archived yet`, text: dependents }}
      >
        Archive…
      </ChangeButton>
    </>
  );
}

interface FlagDialogProps extends FlagActionsProps {
  readonly onClose: () => void;
}

function DetailsDialog(props: FlagDialogProps) {
  return (
    <FlagForm {...props} part="details">
      {({ mine, edit }) => (
        <>
          <FlagFields
            values={{ ...mine, description: mine.description ?? '', owner: mine.owner ?? '' }}
            onChange={edit}
          />
          <Checkbox isChecked={mine.impressionData} onChange={(impressionData) => edit({ impressionData })}>
            SDKs report impressions
          </Checkbox>
        </>
      )}
    </FlagForm>
  );
}

function CloneDialog({ detail, revision, onClose }: FlagDialogProps) {
  const [text, setText] = useState(`${detail.name}-copy`);
  const clone = (): Proposal => {
    const name = text.trim();
    const ref = { project: detail.project, flag: detail.name };
    return {
      title: `Clone ${detail.name}`,
      changes: [{ op: 'cloneFlag', ref, input: { name }, ifRevision: revision }],
      done: `${name} was created, off in every environment.`,
      onApplied: () => navigate(href(['projects', detail.project, 'flags', name])),
    };
  };
  return (
    <ChangeDialog title={`Clone ${detail.name}`} submit="Clone flag" proposal={clone} onClose={onClose}>
      <p>The copy has all strategies and variants, and is off in every environment.</p>
      <TextField
        label="Name of the copy"
        path="/name"
        required
        spellcheck={false}
        maxLength={100}
        value={text}
        onChange={setText}
      />
    </ChangeDialog>
  );
}
