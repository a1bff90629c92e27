import type { FlagDetail, Variant } from '../api/types.js';
import { splitAtCommas } from '../model/describe.js';
import { number } from '../words.js';
import { Button, Code, Details, DialogButton, IconButton, Select, sameText } from './controls.js';
import { FlagForm, hasFlagDraft } from './flag-form.js';
import { Icon } from './icons.js';
import { Card } from './screen.js';
import { Table } from './table.js';

interface VariantsProps {
  readonly detail: FlagDetail;
  readonly revision: number;
}

/** The variants of a flag: one set for all environments. */
export function VariantsSection({ detail, revision }: VariantsProps) {
  const variants = detail.variants ?? [];
  return (
    <Card
      title="Variants"
      note="in all environments"
      actions={
        <DialogButton
          needs={['setVariants', 'applyChanges']}
          project={detail.project}
          blocked={detail.archived ? 'The flag is archived.' : undefined}
          isOpen={hasFlagDraft(detail.name, 'variants')}
          dialog={(close) => <VariantsDialog detail={detail} revision={revision} onClose={close} />}
        >
          <Icon name="edit" /> Edit variants
        </DialogButton>
      }
    >
      {variants.length === 0 ? (
        <p class="muted">None: the flag is on or off, without a value.</p>
      ) : (
        <VariantTable variants={variants} />
      )}
    </Card>
  );
}

const NONE = <span class="muted">none</span>;

function VariantTable({ variants }: { readonly variants: readonly Variant[] }) {
  return (
    <>
      <div class="weights" aria-hidden="true">
        {variants.map(({ name, weight }) => (
          <span key={name} style={{ flexGrow: weight }} title={`${name} ${weight / 10} %`} />
        ))}
      </div>
      <Table
        class="plain stacked variants"
        items={variants}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          {
            title: 'Weight',
            isNamed: true,
            cell: ({ weight, weightType }) => `${weight / 10} %${weightType === 'fix' ? ' fixed' : ''}`,
          },
          {
            title: 'Payload',
            isNamed: true,
            class: () => 'payload',
            cell: ({ payload }) => (payload ? <Payload {...payload} /> : NONE),
          },
          {
            title: 'Overrides',
            isNamed: true,
            cell: ({ overrides = [] }) =>
              overrides.map(({ contextName, values }) => `${contextName}: ${values.join(', ')}`).join('; ') || NONE,
          },
        ]}
      />
    </>
  );
}

/** Payloads above this length are folded. */
const SHOWN = 200;

function Payload({ type, value }: NonNullable<Variant['payload']>) {
  return (
    <>
      <span class="tag">{type}</span> {value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value}
      {value.length > SHOWN && (
        <Details summary={`All ${number(value.length)} characters`}>
          {() => <Code>{type === 'json' ? formatted(value) : value}</Code>}
        </Details>
      )}
    </>
  );
}

/** Returns JSON with one member per line; the text itself if it cannot be parsed. */
function formatted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const PAYLOADS = ['string', 'json', 'csv', 'number'] as const;

function VariantsDialog(props: VariantsProps & { readonly onClose: () => void }) {
  return (
    <FlagForm {...props} part="variants" size="large">
      {({ mine, edit }) => <VariantRows variants={mine.variants ?? []} onChange={(variants) => edit({ variants })} />}
    </FlagForm>
  );
}

const NEW: Variant = { name: '', weightType: 'variable', weight: 0, stickiness: 'default', overrides: [] };

interface VariantRowsProps {
  readonly variants: readonly Variant[];
  readonly onChange: (variants: readonly Variant[]) => void;
}

function VariantRows({ variants, onChange }: VariantRowsProps) {
  const fixed = variants.reduce((sum, { weightType, weight }) => sum + (weightType === 'fix' ? weight : 0), 0);
  return (
    <>
      <p class="muted">
        Fixed weights keep their share. The other variants share the remaining {(1000 - fixed) / 10} %.
      </p>
      {variants.map((variant, index) => (
        <VariantRow
          key={index}
          variant={variant}
          number={index + 1}
          onChange={(changed) => onChange(variants.with(index, changed))}
          onRemove={() => onChange(variants.toSpliced(index, 1))}
        />
      ))}
      <Button onClick={() => onChange([...variants, NEW])}>
        <Icon name="plus" /> Add a variant
      </Button>
    </>
  );
}

interface VariantRowProps {
  readonly variant: Variant;
  readonly number: number;
  readonly onChange: (variant: Variant) => void;
  readonly onRemove: () => void;
}

function VariantRow({ variant, number, onChange, onRemove }: VariantRowProps) {
  const { name, weight, weightType, payload, overrides = [] } = variant;
  const [first] = overrides;
  const setOverride = (contextName: string, text: string) => {
    const values = splitAtCommas(text);
    const rest = overrides.slice(1);
    onChange({ ...variant, overrides: values.length === 0 ? rest : [{ contextName, values }, ...rest] });
  };
  return (
    <fieldset class="variant-row">
      <legend class="hidden">Variant {number}</legend>
      <label>
        Name
        <input
          required
          value={name}
          spellcheck={false}
          onInput={({ currentTarget }) => onChange({ ...variant, name: currentTarget.value })}
        />
      </label>
      <label>
        Weight
        <Select
          value={weightType}
          options={[
            ['variable', 'shared'],
            ['fix', 'fixed'],
          ]}
          onChange={(type) => onChange({ ...variant, weightType: type as Variant['weightType'] })}
        />
      </label>
      {weightType === 'fix' && (
        <label>
          Percent
          <input
            type="number"
            min="0"
            max="99.9"
            step="0.1"
            value={weight / 10}
            onInput={({ currentTarget }) =>
              onChange({ ...variant, weight: Math.round(Number(currentTarget.value) * 10) })
            }
          />
        </label>
      )}
      <label>
        Payload
        <Select
          value={payload?.type ?? ''}
          options={[['', 'none'], ...sameText(PAYLOADS)]}
          onChange={(value) => {
            const { payload: _payload, ...rest } = variant;
            const type = PAYLOADS.find((one) => one === value);
            onChange(type === undefined ? rest : { ...rest, payload: { type, value: payload?.value ?? '' } });
          }}
        />
      </label>
      {payload && (
        <label class="wide value">
          Value
          <textarea
            rows={Math.min(12, payload.value.split('\n').length + 1)}
            spellcheck={false}
            value={payload.value}
            onInput={({ currentTarget }) =>
              onChange({ ...variant, payload: { ...payload, value: currentTarget.value } })
            }
          />
          {payload.type === 'json' && <JsonFault text={payload.value} />}
        </label>
      )}
      {payload?.type === 'json' && formatted(payload.value) !== payload.value && (
        <Button
          class="quiet"
          onClick={() => onChange({ ...variant, payload: { ...payload, value: formatted(payload.value) } })}
        >
          Format
        </Button>
      )}
      <label class="wide">
        Always for {first?.contextName ?? 'userId'}
        <input
          value={first?.values.join(', ') ?? ''}
          placeholder="IDs, separated by commas"
          onChange={({ currentTarget }) => setOverride(first?.contextName ?? 'userId', currentTarget.value)}
        />
      </label>
      <IconButton icon="close" label={`Remove variant ${number}`} onClick={onRemove} />
    </fieldset>
  );
}

function JsonFault({ text }: { readonly text: string }) {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return <small class="fault-text">{(error as Error).message}</small>;
  }
}
