import { isSignedOut } from './api/credentials.js';
import { Heading } from './parts/heading.js';
import { Layout } from './parts/layout.js';
import { Fault, Loading } from './parts/states.js';
import { href, path } from './router.js';
import { EditorScreen } from './screens/editor.js';
import { FlagScreen } from './screens/flag.js';
import { FlagsScreen } from './screens/flags.js';
import { HistoryScreen } from './screens/history.js';
import { SignIn } from './screens/sign-in.js';
import { isLetIn, loadSession, session, sessionError } from './state/session.js';

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
    return error === undefined ? <Loading /> : <Fault error={error} onRetry={() => void loadSession()} />;
  }
  return isLetIn.value ? <Route segments={path.value} /> : <SignIn />;
}

/** One row per screen. */
function Route({ segments }: { readonly segments: readonly string[] }) {
  const [first, second, third, fourth, fifth, ...rest] = segments;
  if (rest.length > 0) return <NotFound />;
  if (first === undefined) return <FlagsScreen project="default" />;
  if (first === 'history' && second === undefined) return <HistoryScreen />;
  if (first !== 'projects' || second === undefined) return <NotFound />;
  if (third === undefined) return <FlagsScreen key={second} project={second} />;
  if (third !== 'flags' || fourth === undefined) return <NotFound />;
  if (fifth === undefined) return <FlagScreen key={fourth} project={second} flag={fourth} />;
  return <EditorScreen key={`${fourth} ${fifth}`} project={second} flag={fourth} environment={fifth} />;
}

function NotFound() {
  return (
    <section class="narrow">
      <Heading title="There is nothing here" />
      <p>
        <a href={href(['projects', 'default'])}>Go to the flags</a>
      </p>
    </section>
  );
}
