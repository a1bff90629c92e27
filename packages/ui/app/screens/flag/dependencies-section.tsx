import { useState } from 'preact/hooks';
import { useResource } from '../../api/resource.js';
import type { Dependency, FlagDetail } from '../../api/types.js';
import { splitAtCommas } from '../../model/describe.js';
import { DialogButton, Link, sameText } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { ChangeButton } from '../../parts/form/change-button.js';
import { ChangeDialog } from '../../parts/form/dialog.js';
import { fieldProps, SelectField, TextField } from '../../parts/form/field.js';
import { Card } from '../../parts/frame/screen.js';
import type { Proposal } from '../../state/changes.js';

interface DependenciesProps {
  readonly detail: FlagDetail;
  readonly revision: number;
}

/** The flags that a flag depends on, and those that depend on it. */
export function DependenciesSection({ detail, revision }: DependenciesProps) {
  const { name, project, dependencies = [], children = [], archived } = detail;
  const blocked = archived
    ? 'This flag is archived.'
    : children.length > 0
      ? 'Other flags depend on this one, so it cannot depend on another.'
      : undefined;
  const removal = (feature: string): Proposal => ({
    title: `Remove the dependency of ${name} on ${feature}`,
    changes: [{ op: 'removeDependency', ref: { project, flag: name }, input: { flag: feature }, ifRevision: revision }],
    done: `${name} does not depend on ${feature} any more.`,
  });
  return (
    <Card
      title="Dependencies"
      note={
        dependencies.length === 0 &&
        children.length === 0 &&
        'None: this flag does not depend on others, and none depend on it'
      }
      actions={
        <DialogButton
          needs={['addDependency']}
          project={project}
          blocked={blocked}
          dialog={(close) => <AddDialog detail={detail} revision={revision} onClose={close} />}
        >
          <Icon name="plus" /> Add a parent
        </DialogButton>
      }
    >
      {dependencies.length > 0 && (
        <ul class="rows">
          {dependencies.map((dependency) => (
            <li key={dependency.feature}>
              <span>
                Only while <Link to={['projects', project, 'flags', dependency.feature]}>{dependency.feature}</Link>{' '}
                {describeDependency(dependency)}
              </span>
              <ChangeButton
                class="quiet"
                label={`Remove the dependency on ${dependency.feature}`}
                project={project}
                proposal={removal(dependency.feature)}
              >
                Remove
              </ChangeButton>
            </li>
          ))}
        </ul>
      )}
      {children.length > 0 && (
        <p>
          Flags that depend on this one: <FlagTags project={project} names={children} />
        </p>
      )}
    </Card>
  );
}

/** Links to flags. */
export function FlagTags({ project, names }: { readonly project: string; readonly names: readonly string[] }) {
  return names.map((name) => (
    <Link key={name} class="tag" to={['projects', project, 'flags', name]}>
      {name}
    </Link>
  ));
}

function describeDependency({ enabled, variants }: Dependency): string {
  if (!enabled) return 'is off';
  return variants.length === 0 ? 'is on' : `has variant ${variants.join(' or ')}`;
}

function AddDialog({ detail, revision, onClose }: DependenciesProps & { readonly onClose: () => void }) {
  const { name, project } = detail;
  const parents = useResource('listPossibleParents', { params: { project, flag: name } }).data ?? [];
  const [form, setForm] = useState({ flag: '', state: 'on', variants: '' });
  const field = fieldProps(form, (change) => setForm({ ...form, ...change }));
  const add = (): Proposal => {
    const variants = splitAtCommas(form.variants);
    const input = {
      flag: form.flag,
      enabled: form.state === 'on',
      ...(form.state === 'on' && variants.length > 0 && { variants }),
    };
    return {
      title: `Make ${name} depend on ${form.flag}`,
      changes: [{ op: 'addDependency', ref: { project, flag: name }, input, ifRevision: revision }],
      done: `${name} depends on ${form.flag}.`,
    };
  };
  return (
    <ChangeDialog title={`Add a parent of ${name}`} submit="Add parent" proposal={add} onClose={onClose}>
      <TextField
        label="Parent"
        hint="A flag of this project without parents of its own"
        required
        list="parents"
        {...field('flag')}
      />
      <datalist id="parents">
        {parents.slice(0, 500).map((parent) => (
          <option key={parent} value={parent} />
        ))}
      </datalist>
      <SelectField label="It has to be" options={sameText(['on', 'off'])} {...field('state')} />
      {form.state === 'on' && (
        <TextField label="With one of the variants" hint="Separated by commas; empty for any" {...field('variants')} />
      )}
    </ChangeDialog>
  );
}
