import type { Change, FlagsOptions, StrategyRef } from '@flags/core';
import request, { type Response, type Test } from 'supertest';
import type { Action } from '../../express/src/index.js';
import { createHostApp, type HostApp } from './host-app.js';

export const REQUESTS = '/api/admin/change-requests';
export const POLICY = '/api/admin/approval-policy';
export const UNKNOWN_ID = '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b11';
export const PROTECTING = { environments: { production: { required: 1 } } };
export const DECISIONS = ['approve', 'reject', 'withdraw', 'apply'] as const;
/** What only people may do. */
export const OF_PEOPLE: readonly Action[] = ['decideChangeRequest', 'changeApprovalPolicy', 'bypassApproval'];
export const HOUR = 3_600_000;

export type Project = 'a' | 'b';
export type DecisionName = (typeof DECISIONS)[number];

export const production = (project: Project) => ({ project, flag: `flag-${project}`, environment: 'production' });

/** Clients of production would see it. */
export const adding = (project: Project): Change => ({
  op: 'addStrategy',
  ref: production(project),
  input: { name: 'default' },
});

interface User {
  readonly name: string;
  readonly id?: string;
}

/** Renamed during a test, and one person in two sessions. */
const USERS: Record<string, User> = {
  ann: { name: 'Ann', id: 'u-1' },
  'ann-renamed': { name: 'Ann Miller', id: 'u-1' },
  bea: { name: 'Bea', id: 'u-2' },
  'bea-at-home': { name: 'bea@example.org', id: 'u-2' },
  eve: { name: 'Eve', id: 'u-3' },
  namesake: { name: ' ANN ' },
};

interface DecideOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Rule = (name: string, action: Action, project: string | null) => boolean;

/** Eve may do everything in project a, and nothing elsewhere; the others everything. */
const LIMITED: Rule = (name, _action, project) => name !== 'Eve' || project === 'a';

export interface World extends Pick<HostApp, 'app' | 'flags'> {
  /** The questions to `authorize`: the action, and the project. */
  readonly asked: string[];
  /** The first strategies of the flags, which have a percentage. */
  readonly refs: Readonly<Record<Project, StrategyRef>>;
  as(user: string, method: 'get' | 'post' | 'put' | 'patch' | 'delete', path: string): Test;
  /** Requests a strategy for clients of production, in each of the projects. */
  ask(user: string, ...projects: readonly Project[]): Test;
  /** Returns the id of such a request. */
  askedBy(user: string, ...projects: readonly Project[]): Promise<string>;
  /** Sends a decision, and expects its status: 200 by default. An approval is one of the present effect. */
  decide(user: string, id: string, decision: DecisionName, expected?: DecideOptions): Promise<Response>;
  strategiesOf(project: Project): Promise<number>;
}

/** Two projects with one flag each, which is on in production, a protected environment. */
export async function startWorld(rule: Rule = LIMITED, options: Partial<FlagsOptions> = {}): Promise<World> {
  const asked: string[] = [];
  const { app, flags } = await createHostApp<User>({
    flags: { due: { run: 'elsewhere' }, ...options },
    router: {
      auth: (sent) => USERS[String(sent.headers['x-user'])] ?? null,
      authorize: ({ name }, action, project) => {
        asked.push(`${action} ${project}`);
        return rule(name, action, project);
      },
    },
  });
  const addGradual = async (project: Project): Promise<StrategyRef> => {
    const ref = production(project);
    await flags.createProject({ id: project, name: project });
    await flags.createFlag({ project }, { name: ref.flag });
    const parameters = { rollout: 5, stickiness: 'default', groupId: ref.flag };
    const { id } = await flags.addStrategy(ref, { name: 'flexibleRollout', parameters });
    await flags.enable(ref);
    return { ...ref, strategy: id };
  };
  const refs = { a: await addGradual('a'), b: await addGradual('b') };
  await flags.approvalPolicy.set(PROTECTING);
  const as: World['as'] = (user, method, path) => request(app)[method](path).set('x-user', user);
  const ask: World['ask'] = (user, ...projects) =>
    as(user, 'post', REQUESTS).send({ changes: projects.map(adding), reason: 'Launch' });
  return {
    app,
    flags,
    asked,
    refs,
    as,
    ask,
    askedBy: async (user, ...projects) => (await ask(user, ...projects).expect(201)).body.id,
    async decide(user, id, decision, { status = 200, headers = {} } = {}) {
      const found = await flags.changeRequests.get({ changeRequest: id }).catch(() => undefined);
      const sent = as(user, 'post', `${REQUESTS}/${id}/${decision}`).set(headers).expect(status);
      return decision === 'approve' ? sent.send({ effect: found?.effect ?? 'unknown' }) : sent;
    },
    async strategiesOf(project) {
      const { environments } = await flags.getFlag(production(project));
      return environments.find(({ name }) => name === 'production')?.strategies.length ?? 0;
    },
  };
}
