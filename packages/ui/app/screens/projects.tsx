import { useState } from 'preact/hooks';
import { useResource } from '../api/resource.js';
import type { Project } from '../api/types.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { FormDialog, Notice } from '../parts/dialog.js';
import { TextField } from '../parts/field.js';
import type { ShowRefusal } from '../parts/form.js';
import { Heading } from '../parts/heading.js';
import { Icon } from '../parts/icons.js';
import { WhenLoaded } from '../parts/screen.js';
import { currentProject, href } from '../router.js';
import { type Proposal, propose } from '../state/changes.js';
import { offers } from '../state/session.js';
import { number, plural } from '../words.js';

/** All projects: their health and their actions. */
export function Projects() {
  const reply = useResource('listProjects', {});
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <div class="screen-head">
        <Heading title="All projects" />
        <span class="stretch" />
        <AllowedButton
          class="primary"
          needs={['createProject', 'applyChanges']}
          project={currentProject()}
          onClick={() => setCreating(true)}
        >
          <Icon name="plus" /> New project
        </AllowedButton>
      </div>
      <WhenLoaded reply={reply} rows={2}>
        {({ projects }) => (
          <table class="list">
            <caption class="hidden">Projects</caption>
            <thead>
              <tr>
                <th scope="col">Project</th>
                <th scope="col">Flags</th>
                <th scope="col">Health</th>
                <th scope="col">
                  <span class="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {projects.map((project) => (
                <ProjectRow key={project.id} project={project} />
              ))}
            </tbody>
          </table>
        )}
      </WhenLoaded>
      {isCreating && <ProjectDialog onClose={() => setCreating(false)} />}
    </>
  );
}

function ProjectRow({ project }: { readonly project: Project }) {
  const { id, name, description, featureCount, health } = project;
  const [open, setOpen] = useState<'rename' | 'delete'>();
  const close = () => setOpen(undefined);
  return (
    <tr>
      <th scope="row">
        <a href={href(['projects', id])}>{name}</a>
        <small>{[id, description].filter(Boolean).join(' · ')}</small>
      </th>
      <td data-label="Flags">{number(featureCount)}</td>
      <td
        data-label="Health"
        title="The share of flags that are neither stale nor older than the lifetime of their type"
      >
        {health} %
      </td>
      <td class="row-actions">
        <AllowedButton
          class="quiet"
          needs={['updateProject', 'applyChanges']}
          project={id}
          label={`Rename ${name}`}
          onClick={() => setOpen('rename')}
        >
          Rename…
        </AllowedButton>
        <AllowedButton
          class="quiet"
          needs={['deleteProject', 'applyChanges']}
          project={id}
          label={`Delete ${name}`}
          onClick={() => setOpen('delete')}
        >
          Delete…
        </AllowedButton>
        {open === 'rename' && <ProjectDialog project={project} onClose={close} />}
        {open === 'delete' && <DeleteDialog project={project} onClose={close} />}
      </td>
    </tr>
  );
}

interface DialogProps {
  readonly onClose: () => void;
}

/** Creates or renames a project. */
function ProjectDialog({ project, onClose }: DialogProps & { readonly project?: Project }) {
  const [mine, setMine] = useState({ id: '', name: project?.name ?? '', description: project?.description ?? '' });
  const canRead = project && offers('getProject', project.id);
  const { revision } = useResource('getProject', canRead ? { params: { project: project.id } } : undefined);
  const name = mine.name.trim();
  const title = project ? `Rename ${project.name}` : 'New project';
  const save = (show: ShowRefusal) => {
    const input = { name, description: mine.description };
    const proposal: Proposal = {
      title,
      changes: [
        project
          ? { op: 'updateProject', ref: { project: project.id }, input, ...(revision && { ifRevision: revision }) }
          : { op: 'createProject', input: { ...input, id: mine.id.trim() } },
      ],
      done: project ? `The project is called ${name}.` : `The project ${name} was created.`,
      onApplied: onClose,
    };
    return propose(proposal, show);
  };
  const field = (member: keyof typeof mine) => ({
    path: `/${member}`,
    value: mine[member],
    onChange: (value: string) => setMine({ ...mine, [member]: value }),
  });
  return (
    <FormDialog title={title} submit={project ? 'Save' : 'Create project'} onSubmit={save} onClose={onClose}>
      {!project && (
        <TextField
          label="ID"
          hint="Part of addresses and tokens. It cannot be changed."
          required
          spellcheck={false}
          maxLength={100}
          {...field('id')}
        />
      )}
      <TextField label="Name" required maxLength={100} {...field('name')} />
      <TextField label="Description" {...field('description')} />
    </FormDialog>
  );
}

/** Deletes a project, or explains why it cannot be deleted yet. */
function DeleteDialog({ project: { id, name, featureCount }, onClose }: DialogProps & { readonly project: Project }) {
  if (featureCount > 0) {
    return (
      <Notice title={`${name} cannot be deleted yet`} onClose={onClose}>
        <p>
          It still has <a href={href(['projects', id])}>{plural(featureCount, 'flag')}</a>. Archive or move every flag
          first.
        </p>
      </Notice>
    );
  }
  const remove = (show: ShowRefusal) => {
    const proposal: Proposal = {
      title: `Delete the project ${name}`,
      changes: [{ op: 'deleteProject', ref: { project: id } }],
      done: `The project ${name} was deleted.`,
      onApplied: onClose,
    };
    return propose(proposal, show);
  };
  return (
    <FormDialog
      title={`Delete ${name}`}
      submit={`Confirm: delete ${name}`}
      isDanger
      onSubmit={remove}
      onClose={onClose}
    >
      <p>Its archived flags, segments and tokens are deleted with it.</p>
    </FormDialog>
  );
}
