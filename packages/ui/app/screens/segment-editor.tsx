import { isSameJson } from '@flags/core/admin';
import { useResource } from '../api/resource.js';
import type { Change, Segment, SegmentUse } from '../api/types.js';
import { missingConstraint } from '../model/describe.js';
import { constraintDifferences, type Difference } from '../model/differences.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { ConflictTable } from '../parts/conflict-table.js';
import { ProseField, SelectField, TextField } from '../parts/field.js';
import { Form, type ShowRefusal } from '../parts/form.js';
import { Heading } from '../parts/heading.js';
import { Crumbs, ScreenFrame } from '../parts/screen.js';
import { SegmentPreview } from '../parts/segment-preview.js';
import { Constraints } from '../parts/strategy-editor.js';
import { currentProject, href, navigate } from '../router.js';
import { type Proposal, propose, review } from '../state/changes.js';
import { type Draft, discardDraft, draftOf, keepDraft } from '../state/drafts.js';
import { useEdit } from '../state/edit.js';
import { plural } from '../words.js';

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
  const draft = draftOf<SegmentInput>(NEW)?.mine ?? EMPTY;
  const missing = draft.name.trim() === '' ? 'The segment has no name yet.' : missingConstraint(draft.constraints);
  const create = (show: ShowRefusal) => {
    const input = { ...draft, name: draft.name.trim() };
    const proposal: Proposal = {
      title: `Create segment ${input.name}`,
      changes: [{ op: 'createSegment', input }],
      done: `The segment ${input.name} was created.`,
      onApplied: ({ revisions }) => {
        discardDraft(NEW);
        const created = Object.keys(revisions).find((name) => name.startsWith('segment/'));
        navigate(href(['segments', ...(created ? [created.slice('segment/'.length)] : [])]));
      },
    };
    return propose(proposal, show);
  };
  return (
    <section>
      <Crumbs to={['segments']} label="Segments" />
      <div class="screen-head">
        <Heading title="New segment" />
      </div>
      <Form
        class="editor-main form-page"
        onSubmit={(show) => missing === undefined && create(show)}
        foot={(isBusy) => (
          <footer class="editor-foot">
            <span class="muted">{missing}</span>
            <span class="stretch" />
            <a class="button" href={href(['segments'])} onClick={() => discardDraft(NEW)}>
              Cancel
            </a>
            <AllowedButton
              class="primary"
              type="submit"
              needs={['createSegment', 'applyChanges']}
              project={draft.project ?? currentProject()}
              blocked={missing}
              isBusy={isBusy}
            >
              Create segment
            </AllowedButton>
          </footer>
        )}
      >
        <SegmentForm draft={draft} onChange={(mine) => keepDraft(NEW, { base: EMPTY, revision: 0, mine })} />
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
  const { draft, isKept, conflict, edit, discard } = useEdit(`segment ${id}`, inputOf(segment), revision);
  if (conflict) return <ConflictTable flag={name} conflict={conflict} />;
  const { mine } = draft;
  const changes = changesOf(id, draft);
  const missing = mine.name.trim() === '' ? 'The segment has no name.' : missingConstraint(mine.constraints);
  const startReview = () =>
    review({
      title: `Review changes of the segment ${name}`,
      changes,
      differences: differencesOf(draft.base, mine),
      done: `The segment ${mine.name} was changed.`,
      onApplied: () => {
        discard();
        navigate(href(['segments', id]));
      },
      // The newest state follows. The editor merges it, or shows the conflict table.
      onConflict: () => undefined,
    });
  return (
    <div class="editor">
      <div class="editor-main">
        <SegmentForm
          draft={mine}
          onChange={edit}
          hint={uses.length > 0 ? `Used by ${plural(uses.length, 'strategy', 'strategies')}.` : undefined}
        />
        <footer class="editor-foot">
          <span class="muted">
            {changes.length === 0 ? 'No changes' : plural(differencesOf(draft.base, mine).length, 'difference')}
          </span>
          <span class="stretch" />
          <button type="button" aria-disabled={!isKept} onClick={discard}>
            Discard
          </button>
          <AllowedButton
            class="primary"
            needs={['updateSegment', 'applyChanges']}
            project={mine.project ?? currentProject()}
            blocked={missing ?? (changes.length === 0 ? 'There are no changes yet.' : undefined)}
            onClick={startReview}
          >
            Review changes
          </AllowedButton>
        </footer>
      </div>
      <SegmentPreview changes={changes} uses={uses} missing={missing} />
    </div>
  );
}

/** One change with the members that differ. */
function changesOf(segment: number, { base, mine, revision }: Draft<SegmentInput>): readonly Change[] {
  const members = (Object.keys(EMPTY) as (keyof SegmentInput)[]).filter((name) => !isSameJson(base[name], mine[name]));
  if (members.length === 0) return [];
  const input = Object.fromEntries(members.map((name) => [name, mine[name]]));
  return [{ op: 'updateSegment', ref: { segment }, input, ifRevision: revision }];
}

function differencesOf(before: SegmentInput, after: SegmentInput): readonly Difference[] {
  const describe = ({ name, description, project, constraints }: SegmentInput): Readonly<Record<string, string>> => ({
    name,
    description,
    project: project ?? 'all',
    'who is in it': constraints.length === 0 ? 'everybody' : '',
  });
  const [former, latter] = [describe(before), describe(after)];
  const members = Object.entries(latter).filter(([what, text]) => former[what] !== text);
  return [
    ...members.map(([what, text]) => ({
      place: 'segment',
      what,
      before: former[what] || undefined,
      after: text || undefined,
    })),
    ...constraintDifferences('segment', before.constraints, after.constraints),
  ];
}

interface SegmentFormProps {
  readonly draft: SegmentInput;
  readonly onChange: (draft: SegmentInput) => void;
  readonly hint?: string | undefined;
}

function SegmentForm({ draft, onChange, hint }: SegmentFormProps) {
  const projects = useResource('listProjects', {}).data?.projects ?? [];
  return (
    <>
      <div class="columns">
        <TextField
          label="Name"
          path="/name"
          required
          maxLength={100}
          value={draft.name}
          onChange={(name) => onChange({ ...draft, name })}
        />
        <SelectField
          label="Project"
          path="/project"
          value={draft.project ?? ''}
          options={[['', 'All projects'], ...projects.map(({ id, name }) => [id, name] as const)]}
          onChange={(project) => onChange({ ...draft, project: project || null })}
        />
      </div>
      <ProseField
        label="Description"
        path="/description"
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
      />
      <section class="card constraints-card" aria-labelledby="who">
        <header class="card-head">
          <h2 id="who">Who is in it</h2>
          <span class="muted">Users for whom all constraints hold. {hint}</span>
        </header>
        <Constraints constraints={draft.constraints} onChange={(constraints) => onChange({ ...draft, constraints })} />
      </section>
    </>
  );
}
