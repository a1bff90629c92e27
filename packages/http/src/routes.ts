import type { RequestName } from './actions.js';
import type { Route, RouteGroup, SdkRoute } from './api/route.js';
import { changeRequestRoutes, policyRoutes } from './features/change-requests/routes.js';
import { consumerRoutes } from './features/consumers/routes.js';
import { definitionRoutes } from './features/definitions/routes.js';
import { changeRoutes } from './features/environments/changes.js';
import { clientReportRoutes, clientRoutes, edgeRoutes, frontendReportRoutes } from './features/environments/client.js';
import { frontendRoutes } from './features/environments/frontend.js';
import { ofrepRoutes } from './features/environments/ofrep.js';
import { playgroundRoutes } from './features/environments/playground.js';
import { openApiRoutes, sessionRoutes } from './features/environments/session.js';
import { toolRoutes } from './features/environments/tools.js';
import { dependencyRoutes, environmentRoutes, strategyRoutes, variantRoutes } from './features/flags/configuration.js';
import { archiveRoutes, flagRoutes } from './features/flags/routes.js';
import { featureRoutes } from './features/flags/search.js';
import { tagRoutes } from './features/flags/tags.js';
import { eventRoutes } from './features/history/events.js';
import { changeSetRoutes, historyRoutes } from './features/history/routes.js';
import { memberRoutes } from './features/projects/members.js';
import { projectRoutes } from './features/projects/routes.js';
import { rolloutRoutes } from './features/rollouts/routes.js';
import { segmentRoutes } from './features/segments/routes.js';
import { tokenRoutes } from './features/tokens/routes.js';
import { metricsRoutes, usageRoutes } from './features/usage/routes.js';

const LISTED = [
  { tag: 'Projects', description: 'Every flag belongs to a project.', routes: projectRoutes },
  {
    tag: 'Flags',
    description: 'Flags with their description, type, labels and owner.',
    routes: [...flagRoutes, ...featureRoutes],
  },
  { tag: 'Tags', description: 'The labels of flags, in the format of Unleash.', routes: tagRoutes },
  {
    tag: 'Strategies',
    description: 'The rules that decide who gets a flag in an environment.',
    routes: strategyRoutes,
  },
  { tag: 'Environments', description: 'The state of flags in each environment: on or off.', routes: environmentRoutes },
  {
    tag: 'Variants',
    description: 'The variants of a flag with their weights and payloads.',
    routes: variantRoutes,
  },
  { tag: 'Dependencies', description: 'The parent flags on whose state a flag depends.', routes: dependencyRoutes },
  { tag: 'Segments', description: 'Named lists of constraints that strategies share.', routes: segmentRoutes },
  {
    tag: 'Members',
    description: 'The users of a project and their roles. The users belong to the host application.',
    routes: memberRoutes,
  },
  { tag: 'Archive', description: 'Archived flags, which can be revived or deleted.', routes: archiveRoutes },
  {
    tag: 'Metrics',
    description: 'How often flags were evaluated, and by which applications.',
    routes: [...metricsRoutes, ...usageRoutes],
  },
  { tag: 'Events', description: 'The log of all changes.', routes: eventRoutes },
  {
    tag: 'Change requests',
    description: 'Changes that wait for a time, for approval, or for both; and the environments that need approval.',
    routes: [...changeRequestRoutes, ...policyRoutes],
  },
  {
    tag: 'Rollouts',
    description: 'Percentages that change in steps.',
    routes: rolloutRoutes,
  },
  {
    tag: 'Consumers',
    description: 'Durable readers of events, such as webhooks. Each runs on one node at a time.',
    routes: consumerRoutes,
  },
  { tag: 'API tokens', description: 'The secrets with which programs authenticate to this API.', routes: tokenRoutes },
  {
    tag: 'Playground',
    description: 'The evaluation of flags for a context, with an explanation of each result.',
    routes: playgroundRoutes,
  },
  {
    tag: 'Client',
    description: 'Definitions, registration and metrics for server-side SDKs.',
    routes: [...clientRoutes, ...clientReportRoutes, ...edgeRoutes],
  },
  {
    tag: 'Frontend',
    description: 'Evaluated flags, registration and metrics for browser SDKs.',
    routes: [...frontendReportRoutes, ...frontendRoutes],
  },
  { tag: 'OFREP', description: 'The OpenFeature Remote Evaluation Protocol.', routes: ofrepRoutes },
  {
    tag: 'Change sets',
    description: 'Several changes in one commit, with preview, history and undo.',
    routes: [...changeRoutes, ...changeSetRoutes, ...historyRoutes],
  },
  {
    tag: 'Flags as code',
    description: 'Export and import of all definitions as one document.',
    routes: definitionRoutes,
  },
  {
    tag: 'Tools of 4.x',
    description: 'Endpoints for tools of Unleash 4.x, such as its admin interface.',
    routes: toolRoutes,
  },
  { tag: 'Session', description: 'The caller and its permissions.', routes: sessionRoutes },
  { tag: 'OpenAPI', description: 'This document.', routes: openApiRoutes },
] satisfies readonly RouteGroup[];

type WithoutRoute = Exclude<RequestName, (typeof LISTED)[number]['routes'][number]['action']>;

/**
 * All routes of the API, in the groups of the OpenAPI document. The compiler names the actions of `ACTIONS` that have no
 * route here.
 */
export const GROUPS: [WithoutRoute] extends [never] ? readonly RouteGroup[] : { readonly withoutRoute: WithoutRoute } =
  LISTED;

export const ROUTES: readonly Route[] = GROUPS.flatMap(({ routes }) => routes);

/** The routes of the admin API, which followers do not have. */
export const ADMIN_ROUTES: readonly Route[] = ROUTES.filter(({ access }) => access === 'admin');

/** The routes for SDKs, which an engine and a follower serve alike. */
export const SDK_ROUTES: readonly SdkRoute[] = [
  ...clientRoutes,
  ...clientReportRoutes,
  ...edgeRoutes,
  ...frontendReportRoutes,
  ...frontendRoutes,
  ...ofrepRoutes,
];
