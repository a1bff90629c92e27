import type { Flags } from '@flags/core';
import { inputSchemas } from '@flags/core/integration/http';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Method } from '../../src/api/route.js';
import { openApiDocument } from '../../src/openapi/openapi-document.js';
import { GROUPS } from '../../src/routes.js';
import type { SentResponse } from './send.js';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

export interface Exchange {
  readonly method: Method;
  readonly path: string;
  readonly response: SentResponse;
}

export type DocumentedCheck = (exchange: Exchange) => void;

/** Headers that the document must list. */
const TELLING_HEADERS = ['etag', 'allow', 'link', 'retry-after', 'www-authenticate', 'flags-depth'];

const FORMATS = {
  'date-time': (text: string) => new Date(text).toISOString() === text,
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
};

const checks = new Map<string, DocumentedCheck>();

/** A check that the OpenAPI document describes a response of a router for people and tokens. */
export function documentedCheckOf({ settings }: Pick<Flags, 'settings'>): DocumentedCheck {
  const key = JSON.stringify(settings);
  const document = () =>
    openApiDocument({ groups: GROUPS, schemas: inputSchemas(settings), settings, auth: 'session' });
  const check = checks.get(key) ?? createDocumentedCheck(document());
  checks.set(key, check);
  return check;
}

/** Creates a check that the OpenAPI document describes a response: status, headers and content. */
export function createDocumentedCheck(source: object): DocumentedCheck {
  const document = source as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: FORMATS });
  ajv.addSchema({ $id: 'openapi', ...document });
  const templateOf = templateFinder(document);

  return ({ method, path, response }) => {
    const template = templateOf(path);
    const place = `${method} ${template} ${response.status}`;
    const operation = document.paths[template]?.[method.toLowerCase()];
    const documented = operation?.responses[response.status];
    if (documented === undefined) throw new Error(`${place} is not documented: ${response.text}`);
    checkHeaders(documented, response, place);
    if (documented.content === undefined) {
      expect({ place, text: response.text }).toEqual({ place, text: '' });
      return;
    }
    const media = Object.keys(documented.content);
    expect(media.map((type) => `${type}; charset=utf-8`)).toContain(response.headers['content-type']);
    // Files have a schema for their whole text only.
    if (!media.includes('application/json')) return;
    const pointer = [
      'paths',
      template,
      method.toLowerCase(),
      'responses',
      `${response.status}`,
      'content',
      'application/json',
      'schema',
    ];
    const validate = ajv.getSchema(`openapi#/${pointer.map(escaped).join('/')}`);
    if (validate === undefined) throw new Error(`${place} has no schema.`);
    validate(JSON.parse(response.text));
    expect({ place, body: response.text, errors: validate.errors ?? [] }).toMatchObject({ errors: [] });
  };
}

function checkHeaders({ headers = {} }: DocumentedResponse, response: SentResponse, place: string): void {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const required = Object.keys(headers).filter((name) => headers[name]?.required);
  for (const name of required)
    expect({ place, name, value: response.get(name) }).toHaveProperty('value', expect.anything());
  const undocumented = TELLING_HEADERS.filter((name) => response.get(name) !== undefined && !names.includes(name));
  expect({ place, undocumented }).toEqual({ place, undocumented: [] });
}

/** Returns a function that finds the path of the document for an address. */
function templateFinder({ paths }: Document): (address: string) => string {
  // Paths without parameters come first.
  const templates = Object.keys(paths)
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .map((template) => ({ template, pattern: patternOf(template) }));

  return (address) => {
    const [path = ''] = address.split('?');
    const found = templates.find(({ pattern }) => pattern.test(path));
    if (found === undefined) throw new Error(`${path} is not documented.`);
    return found.template;
  };
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
