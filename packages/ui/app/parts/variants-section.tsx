import { useState } from 'preact/hooks';
import type { FlagDetail, Variant } from '../api/types.js';
import { number } from '../words.js';
import { AllowedButton } from './allowed-button.js';
import { FlagForm, hasFlagDraft } from './flag-form.js';
import { Icon } from './icons.js';

interface VariantsProps {
  readonly detail: FlagDetail;
  readonly revision: number;
}

/** The variants of a flag: one set for all environments. */
export function VariantsSection({ detail, revision }: VariantsProps) {
  const [isEditing, setEditing] = useState(hasFlagDraft(detail.name, 'variants'));
  const variants = detail.variants ?? [];
  return (
    <section class="card" aria-labelledby="variants">
      <header class="card-head">
        <h2 id="variants">Variants</h2>
        <span class="muted">in all environments</span>
        <span class="stretch" />
        <AllowedButton
          needs={['setVariants', 'applyChanges']}
          project={detail.project}
          blocked={detail.archived ? 'The flag is archived.' : undefined}
          onClick={() => setEditing(true)}
        >
          <Icon name="edit" /> Edit variants
        </AllowedButton>
      </header>
      {variants.length === 0 ? (
        <p class="muted">None: the flag is on or off, without a value.</p>
      ) : (
        <>
          <div class="weights" aria-hidden="true">
            {variants.map(({ name, weight }) => (
              <span key={name} style={{ flexGrow: weight }} title={`${name} ${weight / 10} %`} />
            ))}
          </div>
          <table class="plain stacked variants">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Weight</th>
                <th scope="col">Payload</th>
                <th scope="col">Overrides</th>
              </tr>
            </thead>
            <tbody>
              {variants.map((variant) => (
                <tr key={variant.name}>
                  <th scope="row">{variant.name}</th>
                  <td data-label="Weight">
                    {variant.weight / 10} %{variant.weightType === 'fix' && <span class="muted"> fixed</span>}
                  </td>
                  <td class="payload" data-label="Payload">
                    {variant.payload ? <Payload {...variant.payload} /> : <span class="muted">none</span>}
                  </td>
                  <td data-label="Overrides">
                    {(variant.overrides ?? [])
                      .map(({ contextName, values }) => `${contextName}: ${values.join(', ')}`)
                      .join('; ') || <span class="muted">none</span>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {isEditing && <VariantsDialog detail={detail} revision={revision} onClose={() => setEditing(false)} />}
    </section>
  );
}

/** Payloads above this length are folded. */
const SHOWN = 200;

function Payload({ type, value }: NonNullable<Variant['payload']>) {
  return (
    <>
      <span class="tag">{type}</span> {value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value}
      {value.length > SHOWN && (
        <details>
          <summary>All {number(value.length)} characters</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
          <pre tabIndex={0}>{type === 'json' ? formatted(value) : value}</pre>
        </details>
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
      <button type="button" onClick={() => onChange([...variants, NEW])}>
        <Icon name="plus" /> Add a variant
      </button>
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
    const values = text
      .split(',')
      .map((value) => value.trim())
      .filter(Boolean);
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
        <select
          value={weightType}
          onChange={({ currentTarget }) =>
            onChange({ ...variant, weightType: currentTarget.value as Variant['weightType'] })
          }
        >
          <option value="variable">shared</option>
          <option value="fix">fixed</option>
        </select>
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
        <select
          value={payload?.type ?? ''}
          onChange={({ currentTarget: { value } }) => {
            const { payload: _payload, ...rest } = variant;
            const type = PAYLOADS.find((one) => one === value);
            onChange(type === undefined ? rest : { ...rest, payload: { type, value: payload?.value ?? '' } });
          }}
        >
          <option value="">none</option>
          {PAYLOADS.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
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
        <button
          type="button"
          class="quiet"
          onClick={() => onChange({ ...variant, payload: { ...payload, value: formatted(payload.value) } })}
        >
          Format
        </button>
      )}
      <label class="wide">
        Always for {first?.contextName ?? 'userId'}
        <input
          value={first?.values.join(', ') ?? ''}
          placeholder="ids with commas between them"
          onChange={({ currentTarget }) => setOverride(first?.contextName ?? 'userId', currentTarget.value)}
        />
      </label>
      <button type="button" class="quiet square" aria-label={`Remove variant ${number}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
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
