import { STRATEGIES } from '@flags/core/admin';
import { useResource } from '../../api/resource.js';
import type { FlagDetail, FlagEnvironment, Strategy } from '../../api/types.js';
import { missingIn } from '../../model/describe.js';
import { Button, Checkbox, Picker } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { ArchivedActions } from '../../parts/flag/archived-actions.js';
import { ScreenFrame } from '../../parts/frame/screen.js';
import { ConflictTable } from '../../parts/review/conflict-table.js';
import { EditFrame } from '../../parts/review/edit-frame.js';
import { StrategyEditor } from '../../parts/strategy/strategy-editor.js';
import { href } from '../../router.js';
import { useFlagEdit } from '../../state/edit.js';
import { PreviewPanel } from './preview-panel.js';

interface EditorScreenProps {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
}

/** Edits the strategies of a flag in one environment, and previews the changed users before saving. */
export function EditorScreen({ project, flag, environment }: EditorScreenProps) {
  const reply = useResource('getFlag', { params: { project, flag } });
  const { revision } = reply;
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
            <Editor detail={detail} revision={revision} environment={environment} back={href(back)} />
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
  readonly back: string;
}

function Editor({ detail, revision, environment, back }: EditorProps) {
  const { name: flag, project, environments } = detail;
  const flagEdit = useFlagEdit(flag, detail, revision);
  const { draft, changes, unordered, conflict, edit: keep } = flagEdit;
  const mine = draft.mine.environments.find(({ name }) => name === environment);
  if (mine === undefined) return <p class="notice">There is no environment {environment}.</p>;
  const edit = (change: Partial<FlagEnvironment>) => {
    const next = { ...mine, ...change };
    const { environments: all } = draft.mine;
    keep({ ...draft.mine, environments: all.map((one) => (one.name === environment ? next : one)) });
  };
  const missing = missingIn(mine.strategies);
  const ordersRollouts = changes.some(
    ({ op, ref }) => op === 'configureEnvironment' && hasRollout(detail, ref?.environment),
  );
  if (conflict) return <ConflictTable flag={flag} conflict={conflict} environments={environments} />;
  return (
    <EditFrame
      subject={flag}
      edit={flagEdit}
      changes={changes}
      requested={ordersRollouts ? unordered : undefined}
      missing={missing}
      needs={['applyChanges']}
      project={project}
      done={`${flag} was changed in ${environment}.`}
      back={back}
      preview={
        <PreviewPanel
          flag={flag}
          environment={environment}
          changes={missing === undefined ? changes : []}
          missing={missing}
          strategies={mine.strategies}
          project={project}
        />
      }
    >
      <Checkbox class="enabled-box" isChecked={mine.enabled} onChange={(enabled) => edit({ enabled })}>
        {`Enabled in ${environment}`}
      </Checkbox>
      <StrategyList strategies={mine.strategies} flag={flag} onChange={(strategies) => edit({ strategies })} />
      <CopyFrom
        environment={environment}
        environments={environments}
        onCopy={(source) => edit({ strategies: source.strategies.map(({ id: _id, ...strategy }) => strategy) })}
      />
    </EditFrame>
  );
}

function hasRollout({ environments }: FlagDetail, environment: unknown): boolean {
  const { strategies = [] } = environments.find(({ name }) => name === environment) ?? {};
  return strategies.some(({ rollout }) => rollout !== undefined);
}

interface StrategyListProps {
  readonly strategies: readonly Strategy[];
  readonly flag: string;
  readonly onChange: (strategies: readonly Strategy[]) => void;
}

/** Returns the initial parameters of a new strategy: the defaults of the parameters that it has. */
function initialParameters(strategy: string, flag: string): Readonly<Record<string, string>> {
  const initial = { rollout: '100', percentage: '100', stickiness: 'default', groupId: flag };
  const known = STRATEGIES.get(strategy)?.parameters ?? [];
  return Object.fromEntries(Object.entries(initial).filter(([key]) => known.some(({ name }) => name === key)));
}

/** All strategies, in the order of evaluation. The first match turns the flag on. */
function StrategyList({ strategies, flag, onChange }: StrategyListProps) {
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
            onChange={(changed) => onChange(strategies.with(index, changed))}
            onMove={(to) => move(index, to)}
            onRemove={() => onChange(strategies.toSpliced(index, 1))}
          />
        ))}
      </ol>
      <Picker
        label="Add a strategy"
        class="add-strategy"
        text="+ Strategy…"
        options={[...STRATEGIES.values()].map(({ name, title }) => [name, title])}
        onChange={add}
      />
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
        <Button key={source.name} class="quiet" onClick={() => onCopy(source)}>
          <Icon name="copy" /> Make like {source.name}
        </Button>
      ))}
    </span>
  );
}
