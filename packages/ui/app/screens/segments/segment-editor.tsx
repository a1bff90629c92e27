import { isSameJson } from '@flags/core/admin';
import { useResource } from '../../api/resource.js';
import type { Change, Segment, SegmentUse } from '../../api/types.js';
import { missingConstraint } from '../../model/describe.js';
import { Button, Link } from '../../parts/control/controls.js';
import { AreaField, fieldProps, SelectField, TextField } from '../../parts/form/field.js';
import { Form } from '../../parts/form/form.js';
import { Card, Crumbs, ScreenFrame, ScreenHead } from '../../parts/frame/screen.js';
import { ConflictTable } from '../../parts/review/conflict-table.js';
import { EditFrame } from '../../parts/review/edit-frame.js';
import { Constraints } from '../../parts/strategy/strategy-editor.js';
import { currentProject, href, navigate } from '../../router.js';
import { submit } from '../../state/changes.js';
import type { Draft } from '../../state/drafts.js';
import { useEdit } from '../../state/edit.js';
import { plural } from '../../words.js';
import { SegmentPreview } from './segment-preview.js';

/** The members of a segment that a user edits. */
type SegmentInput = Pick<Segment, 'name' | 'description' | 'constraints' | 'project'>;

const EMPTY: SegmentInput = { name: '', description: '', constraints: [], project: null };

function inputOf({ name, description, constraints, project }: Segment): SegmentInput {
  return { name, description, constraints, project };
}

/** The draft key of a new segment. */
const NEW = 'segment new';

/** Creates a segment. The form survives a reload and a sign-in. */
export function NewSegmentScreen() {
  const { draft, edit, discard } = useEdit(NEW, EMPTY, 0);
  const { mine } = draft;
  const missing = mine.name.trim() === '' ? 'The segment has no name yet.' : missingConstraint(mine.constraints);
  const create = () => {
    const input = { ...mine, name: mine.name.trim() };
    return submit({
      title: `Create segment ${input.name}`,
      changes: [{ op: 'createSegment', input }],
      done: `The segment ${input.name} was created.`,
      onApplied: (set) => {
        discard();
        const created = Object.keys(set?.revisions ?? {}).find((name) => name.startsWith('segment/'));
        navigate(href(['segments', ...(created ? [created.slice('segment/'.length)] : [])]));
      },
    });
  };
  return (
    <section>
      <Crumbs to={['segments']} label="Segments" />
      <ScreenHead title="New segment" />
      <Form
        class="editor-main form-page"
        onSubmit={() => missing === undefined && create()}
        foot={(isBusy) => (
          <footer class="editor-foot">
            <span class="muted">{missing}</span>
            <Link class="button" action="Cancel" to={['segments']} onClick={discard}>
              Cancel
            </Link>
            <Button
              class="primary"
              type="submit"
              needs={['createSegment', 'applyChanges']}
              project={mine.project ?? currentProject()}
              blocked={missing}
              isBusy={isBusy}
            >
              Create segment
            </Button>
          </footer>
        )}
      >
        <SegmentForm draft={mine} onChange={edit} />
      </Form>
    </section>
  );
}

/** Edits a segment, and previews the changed users before saving. */
export function SegmentEditorScreen({ id }: { readonly id: string }) {
  const reply = useResource('getSegment', { params: { segment: id } });
  const uses = useResource('listSegmentUses', { params: { segment: id } });
  const { data, revision } = reply;
  return (
    <ScreenFrame
      back={{ to: ['segments', id], label: data?.name ?? 'Segment' }}
      title={data ? `Edit ${data.name}` : 'Edit segment'}
      reply={reply}
    >
      {(segment) =>
        revision !== undefined && <Editor segment={segment} revision={revision} uses={uses.data?.strategies ?? []} />
      }
    </ScreenFrame>
  );
}

interface EditorProps {
  readonly segment: Segment;
  readonly revision: number;
  readonly uses: readonly SegmentUse[];
}

function Editor({ segment, revision, uses }: EditorProps) {
  const { id, name } = segment;
  const edit = useEdit(`segment ${id}`, inputOf(segment), revision);
  const { draft, conflict } = edit;
  if (conflict) return <ConflictTable flag={name} conflict={conflict} />;
  const { mine } = draft;
  const changes = changesOf(id, draft);
  const missing = mine.name.trim() === '' ? 'The segment has no name.' : missingConstraint(mine.constraints);
  return (
    <EditFrame
      subject={`the segment ${name}`}
      edit={edit}
      changes={changes}
      missing={missing}
      needs={['updateSegment', 'applyChanges']}
      project={mine.project ?? currentProject()}
      done={`The segment ${mine.name} was changed.`}
      back={href(['segments', id])}
      preview={<SegmentPreview changes={changes} uses={uses} missing={missing} />}
    >
      <SegmentForm
        draft={mine}
        onChange={edit.edit}
        hint={uses.length > 0 ? `Used by ${plural(uses.length, 'strategy', 'strategies')}.` : undefined}
      />
    </EditFrame>
  );
}

/** One change with the members that differ. */
function changesOf(segment: number, { base, mine, revision }: Draft<SegmentInput>): readonly Change[] {
  const members = (Object.keys(EMPTY) as (keyof SegmentInput)[]).filter((name) => !isSameJson(base[name], mine[name]));
  if (members.length === 0) return [];
  const input = Object.fromEntries(members.map((name) => [name, mine[name]]));
  return [{ op: 'updateSegment', ref: { segment, project: base.project ?? null }, input, ifRevision: revision }];
}

interface SegmentFormProps {
  readonly draft: SegmentInput;
  readonly onChange: (draft: SegmentInput) => void;
  readonly hint?: string | undefined;
}

function SegmentForm({ draft, onChange, hint = '' }: SegmentFormProps) {
  const projects = useResource('listProjects', {}).data?.projects ?? [];
  const field = fieldProps(draft, (change) => onChange({ ...draft, ...change }));
  return (
    <>
      <div class="columns">
        <TextField label="Name" required maxLength={100} {...field('name')} />
        <SelectField
          label="Project"
          path="/project"
          value={draft.project ?? ''}
          options={[['', 'All projects'], ...projects.map(({ id, name }) => [id, name] as const)]}
          onChange={(project) => onChange({ ...draft, project: project || null })}
        />
      </div>
      <AreaField label="Description" class="prose" {...field('description')} />
      <Card title="Who is in it" note={`Users for whom all constraints hold. ${hint}`} class="constraints-card">
        <Constraints constraints={draft.constraints} onChange={(constraints) => onChange({ ...draft, constraints })} />
      </Card>
    </>
  );
}
