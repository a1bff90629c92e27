import { PAYLOAD_TYPES } from '@flags/core/admin';
import type { FlagDetail, Variant } from '../../api/types.js';
import { splitAtCommas } from '../../model/describe.js';
import { Button, Code, Details, DialogButton, IconButton, sameText } from '../../parts/control/controls.js';
import { Icon } from '../../parts/control/icons.js';
import { AreaField, Field, fieldProps, SelectField, TextField } from '../../parts/form/field.js';
import { Card } from '../../parts/frame/screen.js';
import { Table } from '../../parts/list/table.js';
import { number } from '../../words.js';
import { FlagForm, hasFlagDraft } from './flag-form.js';

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
      note={variants.length === 0 ? 'None: the flag is on or off, without a value' : 'in all environments'}
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
      {variants.length > 0 && <VariantTable variants={variants} />}
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
  const { weight, weightType, payload, overrides = [] } = variant;
  const [first] = overrides;
  const contextName = first?.contextName ?? 'userId';
  const setOverride = (text: string) => {
    const values = splitAtCommas(text);
    const rest = overrides.slice(1);
    onChange({ ...variant, overrides: values.length === 0 ? rest : [{ contextName, values }, ...rest] });
  };
  const setPayload = (type: string, value: string) => {
    const { payload: _payload, ...rest } = variant;
    const known = PAYLOAD_TYPES.find((one) => one === type);
    onChange(known === undefined ? rest : { ...rest, payload: { type: known, value } });
  };
  const field = fieldProps(variant, (change) => onChange({ ...variant, ...change }));
  return (
    <fieldset class="variant-row">
      <legend class="hidden">Variant {number}</legend>
      <TextField label="Name" required spellcheck={false} {...field('name')} path={undefined} />
      <SelectField
        label="Weight"
        options={[
          ['variable', 'shared'],
          ['fix', 'fixed'],
        ]}
        {...field('weightType')}
      />
      {weightType === 'fix' && (
        <TextField
          label="Percent"
          type="number"
          min={0}
          max={99.9}
          step={0.1}
          value={weight / 10}
          onChange={(percent) => onChange({ ...variant, weight: Math.round(Number(percent) * 10) })}
        />
      )}
      <SelectField
        label="Payload"
        value={payload?.type ?? ''}
        options={[['', 'none'], ...sameText(PAYLOAD_TYPES)]}
        onChange={(type) => setPayload(type, payload?.value ?? '')}
      />
      {payload && (
        <AreaField
          label="Value"
          fault={payload.type === 'json' ? jsonFault(payload.value) : undefined}
          rows={Math.min(12, payload.value.split('\n').length + 1)}
          value={payload.value}
          onChange={(value) => setPayload(payload.type, value)}
        />
      )}
      {payload?.type === 'json' && formatted(payload.value) !== payload.value && (
        <Button class="quiet" onClick={() => setPayload('json', formatted(payload.value))}>
          Format
        </Button>
      )}
      <Field label={`Always for ${contextName}`}>
        {(ids) => (
          <input
            {...ids}
            value={first?.values.join(', ') ?? ''}
            placeholder="IDs, separated by commas"
            onChange={({ currentTarget }) => setOverride(currentTarget.value)}
          />
        )}
      </Field>
      <IconButton icon="close" label={`Remove variant ${number}`} onClick={onRemove} />
    </fieldset>
  );
}

/** Returns why a text is not JSON. */
function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
