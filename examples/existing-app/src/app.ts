import type { Flags } from '@flags/core';
import { type Action, createFlagsRouter } from '@flags/express';
import express, { type Express, type RequestHandler } from 'express';
import session from 'express-session';
import helmet from 'helmet';
import { logIn, userNamed } from './users.js';

declare module 'express-session' {
  interface SessionData {
    userName?: string;
  }
}

/** An application as there are many: helmet, a body parser, sessions, a page; and the flags for its own users. */
export function createApp(flags: Flags, sessionSecret: string): Express {
  const app = express();
  app.use(helmet());
  app.use(express.json());
  app.use(
    session({
      secret: sessionSecret,
      resave: false,
      saveUninitialized: false,
      cookie: { httpOnly: true, sameSite: 'strict' },
    }),
  );

  app.post('/login', (request, response) => {
    const user = logIn(request.body?.name, request.body?.password);
    if (user === undefined) {
      response.status(401).json({ message: 'Wrong name or password.' });
      return;
    }
    request.session.userName = user.name;
    response.json({ name: user.name });
  });

  app.use('/internal/flags', flagsRouter(flags));

  app.get('/', (_request, response) => {
    response.send('The shop.');
  });
  return app;
}

/** The flags' API for whoever is logged in. The event log names the user who made a change. */
function flagsRouter(flags: Flags): RequestHandler {
  return createFlagsRouter(flags, {
    auth: (request) => userNamed(request.session.userName),
    authorize: (user, action) => user.may === 'edit' || isReading(action),
  });
}

function isReading(action: Action): boolean {
  return /^(get|list|count|explain)/.test(action);
}
