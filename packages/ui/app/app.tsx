import { isSignedOut } from './api/credentials.js';
import { useResource } from './api/resource.js';
import { Layout } from './layout/layout.js';
import { Link } from './parts/control/controls.js';
import { Fault, Loading, Missing } from './parts/frame/states.js';
import { ADMINISTRATION, path } from './router.js';
import { AdministrationScreen } from './screens/administration/administration.js';
import { ApplicationScreen } from './screens/applications/application.js';
import { ApplicationsScreen } from './screens/applications/applications.js';
import { ChangesScreen } from './screens/changes/changes.js';
import { RequestScreen } from './screens/changes/request.js';
import { ChangeSetScreen, EventsScreen } from './screens/events/events.js';
import { EditorScreen } from './screens/flag/editor.js';
import { FlagScreen } from './screens/flag/flag.js';
import { FlagByName } from './screens/flag/flag-by-name.js';
import { FlagsScreen } from './screens/flags/flags.js';
import { MembersScreen } from './screens/projects/members.js';
import { SegmentScreen } from './screens/segments/segment.js';
import { NewSegmentScreen, SegmentEditorScreen } from './screens/segments/segment-editor.js';
import { SegmentsScreen } from './screens/segments/segments.js';
import { SignIn } from './screens/sign-in/sign-in.js';
import { WhyScreen } from './screens/why/why.js';
import { isLetIn, session, sessionError } from './state/session.js';

export function App() {
  return (
    <Layout>
      <Screen />
    </Layout>
  );
}

function Screen() {
  if (session.value === undefined && !isSignedOut.value) {
    const error = sessionError.value;
    return error === undefined ? <Loading /> : <Fault error={error} />;
  }
  return isLetIn.value ? <Route segments={path.value} /> : <SignIn />;
}

/** One row per screen. */
function Route({ segments }: { readonly segments: readonly string[] }) {
  const [first, second, third, fourth, fifth, ...rest] = segments;
  if (rest.length > 0) return <NotFound />;
  if (first === undefined) return <ProjectRoute project="default" />;
  // Old links lead to the screen of tokens, which the administration replaced.
  if ((first === ADMINISTRATION || first === 'tokens') && second === undefined) return <AdministrationScreen />;
  if (first === 'why' && second === undefined) return <WhyScreen />;
  if (first === 'events' && third === undefined) {
    return second === undefined ? <EventsScreen project={undefined} /> : <ChangeSetScreen id={second} />;
  }
  if (first === 'changes' && third === undefined) {
    return second === undefined ? <ChangesScreen project={undefined} /> : <RequestScreen key={second} id={second} />;
  }
  if (first === 'applications' && third === undefined) {
    return second === undefined ? <ApplicationsScreen /> : <ApplicationScreen key={second} name={second} />;
  }
  if (first === 'flags' && second !== undefined && third === undefined)
    return <FlagByName key={second} flag={second} />;
  if (first === 'segments' && fourth === undefined) return <SegmentRoute id={second} page={third} />;
  if (first !== 'projects') return <NotFound />;
  if (second === undefined) return <FlagsScreen key="" project="" />;
  if (third === undefined) return <ProjectRoute key={second} project={second} />;
  if (third === 'members' && fourth === undefined) return <MembersScreen key={second} project={second} />;
  if (third === 'events' && fourth === undefined) return <EventsScreen key={second} project={second} />;
  if (third === 'changes' && fourth === undefined) return <ChangesScreen key={second} project={second} />;
  if (third !== 'flags' || fourth === undefined) return <NotFound />;
  if (fifth === undefined) return <FlagScreen key={fourth} project={second} flag={fourth} />;
  return <EditorScreen key={`${fourth} ${fifth}`} project={second} flag={fourth} environment={fifth} />;
}

function ProjectRoute({ project }: { readonly project: string }) {
  const { data } = useResource('listProjects', {});
  if (!data || data.projects.some(({ id }) => id === project)) return <FlagsScreen project={project} />;
  return (
    <Missing title={`There is no project ${project}`}>
      It was deleted, or you may not see it. <Link to={['projects']}>Show all projects</Link>
    </Missing>
  );
}

function SegmentRoute({ id, page }: { readonly id: string | undefined; readonly page: string | undefined }) {
  if (id === undefined) return <SegmentsScreen />;
  if (page === undefined) return id === 'new' ? <NewSegmentScreen /> : <SegmentScreen key={id} id={id} />;
  return page === 'edit' ? <SegmentEditorScreen key={id} id={id} /> : <NotFound />;
}

function NotFound() {
  return (
    <Missing title="There is nothing here">
      <Link to={['projects', 'default']}>Go to the flags</Link>
    </Missing>
  );
}
