import { STRATEGIES } from '@flags/core/admin';
import { useResource } from '../api/resource.js';
import type { FlagDetail, FlagEnvironment, Segment, Strategy } from '../api/types.js';
import { missingIn, strategyName } from '../model/describe.js';
import { AllowedButton } from '../parts/allowed-button.js';
import { ArchivedActions } from '../parts/archived-actions.js';
import { ConflictTable } from '../parts/conflict-table.js';
import { Icon } from '../parts/icons.js';
import { PreviewPanel } from '../parts/preview-panel.js';
import { ScreenFrame } from '../parts/screen.js';
import { StrategyEditor } from '../parts/strategy-editor.js';
import { href, navigate } from '../router.js';
import { review } from '../state/changes.js';
import { useFlagEdit } from '../state/edit.js';
import { useSegments } from '../state/segments.js';
import { plural } from '../words.js';

interface EditorScreenProps {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
}

/** Edits the strategies of a flag in one environment, and previews the changed users before saving. */
export function EditorScreen({ project, flag, environment }: EditorScreenProps) {
  const reply = useResource('getFlag', { params: { project, flag } });
  const { revision } = reply;
  const segments = useSegments();
  const back = ['projects', project, 'flags', flag];
  return (
    <ScreenFrame back={{ to: back, label: flag }} title={`${flag} in ${environment}`} reply={reply}>
      {(detail) =>
        detail.archived ? (
          <div class="notice">
            This flag is archived: it is off everywhere. A draft waits until the flag is revived.{' '}
            <ArchivedActions flag={{ name: flag, project, revision }} />
          </div>
        ) : (
          revision !== undefined && (
            <Editor
              detail={detail}
              revision={revision}
              environment={environment}
              segments={segments}
              back={href(back)}
            />
          )
        )
      }
    </ScreenFrame>
  );
}

interface EditorProps {
  readonly detail: FlagDetail;
  readonly revision: number;
  readonly environment: string;
  readonly segments: readonly Segment[];
  readonly back: string;
}

function Editor({ detail, revision, environment, segments, back }: EditorProps) {
  const { name: flag, project, environments } = detail;
  const { draft, isKept, changes, differences, conflict, edit: keep, discard } = useFlagEdit(flag, detail, revision);
  const mine = draft.mine.environments.find(({ name }) => name === environment);
  if (mine === undefined) return <p class="notice">There is no environment {environment}.</p>;
  const edit = (change: Partial<FlagEnvironment>) => {
    const next = { ...mine, ...change };
    const { environments: all } = draft.mine;
    keep({ ...draft.mine, environments: all.map((one) => (one.name === environment ? next : one)) });
  };
  const missing = missingIn(mine.strategies);
  const startReview = () =>
    review({
      title: `Review changes of ${flag}`,
      changes,
      differences,
      done: `${flag} was changed in ${environment}.`,
      onApplied: () => {
        discard();
        navigate(back);
      },
      // The newest state follows. The editor merges it, or shows the conflict table.
      onConflict: () => undefined,
    });
  if (conflict) return <ConflictTable flag={flag} conflict={conflict} environments={environments} />;
  return (
    <div class="editor">
      <div class="editor-main">
        <label class="checkbox enabled-box">
          <input
            type="checkbox"
            checked={mine.enabled}
            onChange={({ currentTarget }) => edit({ enabled: currentTarget.checked })}
          />
          Enabled in {environment}
        </label>
        <StrategyList
          strategies={mine.strategies}
          flag={flag}
          segments={segments}
          onChange={(strategies) => edit({ strategies })}
        />
        <CopyFrom
          environment={environment}
          environments={environments}
          onCopy={(source) => edit({ strategies: source.strategies.map(({ id: _id, ...strategy }) => strategy) })}
        />
        <footer class="editor-foot">
          <span class="muted">{changes.length === 0 ? 'No changes' : plural(differences.length, 'difference')}</span>
          <span class="stretch" />
          <button type="button" aria-disabled={!isKept} onClick={discard}>
            Discard
          </button>
          <AllowedButton
            class="primary"
            needs={['applyChanges']}
            project={project}
            blocked={missing ?? (changes.length === 0 ? 'There are no changes yet.' : undefined)}
            onClick={startReview}
          >
            Review changes
          </AllowedButton>
        </footer>
      </div>
      <PreviewPanel
        flag={flag}
        environment={environment}
        changes={missing === undefined ? changes : []}
        missing={missing}
        strategies={mine.strategies}
        project={project}
      />
    </div>
  );
}

interface StrategyListProps {
  readonly strategies: readonly Strategy[];
  readonly flag: string;
  readonly segments: readonly Segment[];
  readonly onChange: (strategies: readonly Strategy[]) => void;
}

/** Returns the initial parameters of a new strategy: the defaults of the parameters that it has. */
function initialParameters(strategy: string, flag: string): Readonly<Record<string, string>> {
  const initial = { rollout: '100', percentage: '100', stickiness: 'default', groupId: flag };
  const known = STRATEGIES.get(strategy)?.parameters ?? [];
  return Object.fromEntries(Object.entries(initial).filter(([key]) => known.some(({ name }) => name === key)));
}

/** All strategies, in the order of evaluation. The first match turns the flag on. */
function StrategyList({ strategies, flag, segments, onChange }: StrategyListProps) {
  const move = (from: number, to: number) => {
    const strategy = strategies[from];
    if (strategy !== undefined) onChange(strategies.toSpliced(from, 1).toSpliced(to, 0, strategy));
  };
  const add = (name: string) =>
    onChange([...strategies, { name, constraints: [], parameters: initialParameters(name, flag) }]);
  return (
    <>
      {strategies.length === 0 && <p class="muted">No strategies: nobody gets the flag here.</p>}
      <ol class="strategies">
        {strategies.map((strategy, index) => (
          <StrategyEditor
            key={strategy.id ?? `new ${index}`}
            strategy={strategy}
            index={index}
            count={strategies.length}
            segments={segments}
            onChange={(changed) => onChange(strategies.with(index, changed))}
            onMove={(to) => move(index, to)}
            onRemove={() => onChange(strategies.toSpliced(index, 1))}
          />
        ))}
      </ol>
      <select
        aria-label="Add a strategy"
        class="add-strategy"
        value=""
        onChange={({ currentTarget }) => {
          if (currentTarget.value !== '') add(currentTarget.value);
          currentTarget.value = '';
        }}
      >
        <option value="">+ Strategy…</option>
        {[...STRATEGIES.keys()].map((name) => (
          <option key={name} value={name}>
            {strategyName(name)}
          </option>
        ))}
      </select>
    </>
  );
}

interface CopyFromProps {
  readonly environment: string;
  readonly environments: readonly FlagEnvironment[];
  readonly onCopy: (source: FlagEnvironment) => void;
}

/** Copies the configuration of another environment into the draft, with preview and review. */
function CopyFrom({ environment, environments, onCopy }: CopyFromProps) {
  const sources = environments.filter(({ name, strategies }) => name !== environment && strategies.length > 0);
  return (
    <span class="actions">
      {sources.map((source) => (
        <button key={source.name} type="button" class="quiet" onClick={() => onCopy(source)}>
          <Icon name="copy" /> Make like {source.name}
        </button>
      ))}
    </span>
  );
}
