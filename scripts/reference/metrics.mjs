// The metrics, from the calls that create them. A docstring of the variable says what its attributes are.
import ts from 'typescript';
import { code, phrase, table } from './markdown.mjs';
import { docstringOf, parse } from './source.mjs';

const FILES = ['packages/opentelemetry/src/instrument-flags.ts', 'packages/opentelemetry/src/instrument-storage.ts'];
const CREATE = /\.create(?:Observable)?(Counter|Gauge|Histogram|UpDownCounter)$/;

export function metrics() {
  const rows = FILES.flatMap((file) => metricsIn(parse(file)));
  return `# Metrics

Every metric of ${code('instrumentFlags')} and ${code('instrumentStorage')} of ${code('@flags/opentelemetry')}. [Telemetry](../telemetry.md) says how to collect
them, and [Operate](../operate.md) which of them need an alert.

${table(['Metric', 'Kind', 'Unit', 'Meaning', 'Attributes'], rows)}`;
}

function metricsIn(source) {
  const found = [];
  visit(source);
  return found;

  function visit(node) {
    const call = ts.isVariableDeclaration(node) ? node.initializer : undefined;
    const [, kind] = (call && ts.isCallExpression(call) && CREATE.exec(call.expression.getText())) || [];
    if (kind) found.push(rowOf(kind.toLowerCase(), call.arguments, docstringOf(node)));
    else ts.forEachChild(node, visit);
  }
}

function rowOf(kind, [name, options], attributes) {
  const members = new Map(options.properties.map((member) => [member.name.text, member.initializer.text]));
  const unit = members.get('unit');
  return [code(name.text), kind, unit ? code(unit) : '', phrase(members.get('description')), phrase(attributes)];
}
