import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { Project } from '../../api/types.js';
import { DialogButton, Link } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { ChangeButton } from '../../parts/form/change-button.js';
import { ChangeDialog } from '../../parts/form/dialog.js';
import { fieldProps, TextField } from '../../parts/form/field.js';
import { Card, WhenLoaded } from '../../parts/frame/screen.js';
import { currentProject } from '../../router.js';
import type { Proposal } from '../../state/changes.js';
import { offers } from '../../state/session.js';
import { plural } from '../../words.js';

/** All projects beside their flags: their health and their actions. */
export function Projects() {
  const reply = useResource('listProjects', {});
  return (
    <aside aria-label="Projects">
      <Card
        title="Projects"
        actions={
          <DialogButton
            needs={['createProject', 'applyChanges']}
            project={currentProject()}
            dialog={(close) => <ProjectDialog onClose={close} />}
          >
            <Icon name="plus" /> New project
          </DialogButton>
        }
      >
        <WhenLoaded reply={reply} rows={2}>
          {({ projects }) => (
            <ul class="projects">
              {projects.map((project) => (
                <li key={project.id}>
                  <ProjectName project={project} />
                  <span class="actions">
                    <ProjectActions project={project} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </WhenLoaded>
      </Card>
    </aside>
  );
}

const HEALTH = 'The share of flags that are neither stale nor older than the lifetime of their type';

function ProjectName({ project: { id, name, description, featureCount, health } }: { readonly project: Project }) {
  return (
    <span>
      <Link class="link-strong" to={['projects', id]}>
        {name}
      </Link>
      <small>
        {plural(featureCount, 'flag')} · <span title={HEALTH}>health {health} %</span>
      </small>
      <small>{[id, description].filter(Boolean).join(' · ')}</small>
    </span>
  );
}

function ProjectActions({ project }: { readonly project: Project }) {
  const { id, name } = project;
  return (
    <>
      <DialogButton
        class="quiet"
        needs={['updateProject', 'applyChanges']}
        project={id}
        label={`Rename ${name}`}
        dialog={(close) => <ProjectDialog project={project} onClose={close} />}
      >
        Rename…
      </DialogButton>
      <DeleteButton project={project} />
    </>
  );
}

/** Creates or renames a project. */
function ProjectDialog({ project, onClose }: { readonly project?: Project; readonly onClose: () => void }) {
  const [mine, setMine] = useState({ id: '', name: project?.name ?? '', description: project?.description ?? '' });
  const canRead = project && offers('getProject', project.id);
  const { revision } = useResource('getProject', canRead ? { params: { project: project.id } } : undefined);
  const name = mine.name.trim();
  const title = project ? `Rename ${project.name}` : 'New project';
  const save = (): Proposal => {
    const input = { name, description: mine.description };
    return {
      title,
      changes: [
        project
          ? { op: 'updateProject', ref: { project: project.id }, input, ...(revision && { ifRevision: revision }) }
          : { op: 'createProject', input: { ...input, id: mine.id.trim() } },
      ],
      done: project ? `The project was renamed to ${name}.` : `The project ${name} was created.`,
    };
  };
  const field = fieldProps(mine, (change) => setMine({ ...mine, ...change }));
  return (
    <ChangeDialog title={title} submit={project ? 'Save' : 'Create project'} proposal={save} onClose={onClose}>
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
    </ChangeDialog>
  );
}

/** Deletes a project, or explains why it cannot be deleted yet. */
function DeleteButton({ project: { id, name, featureCount } }: { readonly project: Project }) {
  const removal: Proposal = {
    title: `Delete ${name}`,
    text: 'Its archived flags, segments and tokens are deleted with it.',
    confirm: `Confirm: delete ${name}`,
    changes: [{ op: 'deleteProject', ref: { project: id } }],
    done: `The project ${name} was deleted.`,
  };
  const rest = (
    <p>
      It still has <Link to={['projects', id]}>{plural(featureCount, 'flag')}</Link>. Archive or move every flag first.
    </p>
  );
  return (
    <ChangeButton
      class="quiet"
      project={id}
      label={`Delete ${name}`}
      proposal={removal}
      obstacle={featureCount > 0 && { title: `${name} cannot be deleted yet`, text: rest }}
    >
      Delete…
    </ChangeButton>
  );
}
