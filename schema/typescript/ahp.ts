// Generated from bundle.json by proof/typescript.mjs: do not edit.
// https://github.com/ahp-canvas/ahp-canvas/schema/0.6.0/bundle.json

/**
 * The id of a request, chosen by its sender and repeated in the response as it was written: 1.0 stays 1.0. A string or number of at most 256 bytes.
 */
export type RequestId = string | number;
export type BridgeAmount = number;
/**
 * base64 of at most 48,000 bytes; of at most 32,768 where the request has no chunk
 */
export type BridgeAsked = string;
export type BridgeId = number;
export type BridgeSize = number;
/**
 * @maxItems 256
 */
export type BridgeHeaders = [string, string][];
/**
 * base64 of at most 32,768 bytes
 */
export type BridgeBytes = string;
export type BridgeLaneOrId = number;
export type BridgeStatus = number;
/**
 * One payload of canvas/message that carries HTTP. canvas/bridge/PROTOCOL.md says what the messages mean.
 */
export type BridgeMessage =
  BridgeRequest | BridgeBody | BridgeCredit | BridgeCancel | BridgeResponse | BridgeData | BridgeGrant | BridgeError;
/**
 * An action of an ahp-canvas: channel, identified by its type.
 */
export type CanvasAction = CanvasUpdatedAction | CanvasCloseRequestedAction | CanvasMessageAction;
/**
 * CanvasProviderSource says where a declaration comes from.
 */
export type CanvasProviderSource = ServerCanvasSource | ClientCanvasSource;
/**
 * A message from a client to a host, identified by its method.
 */
export type ClientNotification = UnsubscribeNotification | DispatchActionNotification;
/**
 * A message from a client to a host, identified by its method.
 */
export type ClientRequest =
  | InitializeRequest
  | PingRequest
  | ReconnectRequest
  | SubscribeRequest
  | ResourceReadRequest
  | ResourceRequestRequest
  | ResourceResolveRequest
  | ResourceListRequest
  | AuthenticateRequest
  | CreateSessionRequest
  | DisposeSessionRequest
  | ListSessionsRequest
  | ResolveSessionConfigRequest
  | SessionConfigCompletionsRequest
  | CanvasReadResourceRequest
  | CanvasOpenRequest
  | CanvasInvokeActionRequest
  | CanvasCloseRequest
  | CanvasSetPrivateRequest
  | CanvasPeopleRequest
  | CanvasPersonOpenRequest
  | CanvasUndoCloseRequest
  | CanvasHistoryRequest
  | CanvasInviteRequest
  | CanvasDirectRequest;
/**
 * An error that a host returns, identified by its code.
 */
export type HostError =
  | SessionNotFoundError
  | ProviderNotFoundError
  | SessionAlreadyExistsError
  | UnsupportedProtocolVersionError
  | NotFoundError
  | PermissionDeniedError
  | AlreadyExistsError
  | ConflictError
  | CanvasProviderError
  | InvalidRequestError
  | MethodNotFoundError
  | InvalidParamsError
  | InternalError
  | ParseError;
/**
 * A message from a host to a client, identified by its method.
 */
export type HostNotification =
  | ActionNotification
  | CanvasMovedNotification
  | RootSessionAddedNotification
  | RootSessionRemovedNotification
  | RootSessionSummaryChangedNotification;
/**
 * A message from a host to a client, identified by its method.
 */
export type HostRequest =
  | ResourceReadRequest
  | ResourceRequestRequest
  | ResourceResolveRequest
  | ResourceListRequest
  | CanvasOpenRequest
  | CanvasInvokeActionRequest
  | CanvasCloseRequest;
/**
 * ReconnectResult is a replay or a list of snapshots.
 */
export type ReconnectResult = ReconnectReplayResult | ReconnectSnapshotResult;
/**
 * An action of an ahp-root: channel, identified by its type.
 */
export type RootAction =
  RootAgentsChangedAction | RootActiveSessionsChangedAction | RootTerminalsChangedAction | RootConfigChangedAction;
/**
 * An action of an ahp-session: channel, identified by its type.
 */
export type SessionAction =
  | SessionReadyAction
  | SessionCreationFailedAction
  | SessionTitleChangedAction
  | SessionIsReadChangedAction
  | SessionIsArchivedChangedAction
  | SessionActivityChangedAction
  | SessionServerToolsChangedAction
  | SessionActiveClientSetAction
  | SessionActiveClientRemovedAction
  | SessionConfigChangedAction
  | SessionMetaChangedAction
  | SessionChangesetsChangedAction
  | SessionChatAddedAction
  | SessionChatRemovedAction
  | SessionChatUpdatedAction
  | SessionDefaultChatChangedAction
  | SessionCustomizationsChangedAction
  | SessionCustomizationUpdatedAction
  | SessionCustomizationRemovedAction
  | SessionCustomizationToggledAction
  | SessionMcpServerStateChangedAction
  | SessionCanvasesChangedAction
  | SessionOpenCanvasesChangedAction;
/**
 * An action that a client may dispatch on an ahp-session: channel.
 */
export type SessionClientAction =
  | SessionTitleChangedAction
  | SessionIsReadChangedAction
  | SessionIsArchivedChangedAction
  | SessionActiveClientSetAction
  | SessionActiveClientRemovedAction
  | SessionConfigChangedAction
  | SessionCustomizationToggledAction
  | SessionActiveClientChangedAction;

/**
 * ActionEnvelope is the params of the action notification (ahp/PROTOCOL.md section 2e).
 */
export interface ActionEnvelope {
  /**
   * channel is the URI of the channel whose state the action changes.
   */
  channel: string;
  /**
   * action is the action, with its type tag.
   */
  action: unknown;
  /**
   * serverSeq is the sequence number. It rises across all channels of the host, with gaps.
   */
  serverSeq: number;
  origin?: Origin;
  /**
   * rejectionReason says why the host rejected the action. A rejected action must not be applied.
   */
  rejectionReason?: string;
  [k: string]: unknown;
}
/**
 * Origin identifies the dispatch that an envelope answers.
 */
export interface Origin {
  /**
   * clientId is the client of the connection that dispatched.
   */
  clientId: string;
  /**
   * clientSeq is the sequence number that the client chose.
   */
  clientSeq: number;
  [k: string]: unknown;
}
/**
 * action, host to client. Delivers an action that the host has applied or rejected.
 */
export interface ActionNotification {
  jsonrpc: "2.0";
  method: "action";
  params: ActionEnvelope;
  [k: string]: unknown;
}
/**
 * Actor is who did something.
 */
export interface Actor {
  /**
   * ActorAgent, ActorPerson, ActorCanvas or ActorHost
   */
  kind: string;
  /**
   * that a person chose, or of the agent's token; "" if none
   */
  name?: string;
  /**
   * of a person's page
   */
  clientId?: string;
  [k: string]: unknown;
}
/**
 * AgentInfo is an agent for which sessions can be created. A client can offer to create a session only if there is one.
 */
export interface AgentInfo {
  /**
   * id of the agent
   */
  provider: string;
  /**
   * for people
   */
  displayName: string;
  /**
   * for people
   */
  description: string;
  /**
   * passed through
   */
  models: unknown[];
  [k: string]: unknown;
}
/**
 * AlreadyExists (-32010)
 */
export interface AlreadyExistsError {
  code: -32010;
  message: string;
  data?: ProviderErrorData;
  [k: string]: unknown;
}
/**
 * ProviderErrorData is the data of CodeCanvasProvider.
 */
export interface ProviderErrorData {
  /**
   * code is the provider's own code, or one of canvas/PROTOCOL.md section 3.6.
   */
  code: string;
  /**
   * message is one sentence for people.
   */
  message: string;
  /**
   * details is an optional JSON object that the provider adds for programs.
   */
  details?: unknown;
  [k: string]: unknown;
}
/**
 * AuthenticateParams is the params of authenticate. This host has no protected resources, so it recognizes no resource.
 */
export interface AuthenticateParams {
  /**
   * channel is the root channel or absent.
   */
  channel?: string;
  /**
   * resource is the protected resource.
   */
  resource: string;
  /**
   * token is the credential for it.
   */
  token: string;
  [k: string]: unknown;
}
/**
 * authenticate, client to host. Sends a credential for a protected resource.
 */
export interface AuthenticateRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "authenticate";
  params: AuthenticateParams;
  [k: string]: unknown;
}
/**
 * The response to authenticate.
 */
export interface AuthenticateResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * page to host: more of the request's body
 */
export interface BridgeBody {
  type: "body";
  id: BridgeId;
  seq: BridgeSize;
  end?: boolean;
  trailers?: BridgeHeaders;
  data?: BridgeBytes;
  "x-ahp": "http/1";
  [k: string]: unknown;
}
/**
 * page to host: nobody wants the answer any more
 */
export interface BridgeCancel {
  type: "cancel";
  id: BridgeId;
  reason?: string;
  "x-ahp": "http/1";
  [k: string]: unknown;
}
/**
 * page to host: window given back
 */
export interface BridgeCredit {
  type: "credit";
  id: BridgeLaneOrId;
  bytes?: BridgeAmount;
  lane?: BridgeAmount;
  "x-ahp": "http/1";
  [k: string]: unknown;
}
/**
 * host to page: more of the answer's body
 */
export interface BridgeData {
  type: "data";
  id: BridgeId;
  seq: BridgeSize;
  end?: boolean;
  trailers?: BridgeHeaders;
  data?: BridgeAsked;
  "x-ahp": "http/1";
  [k: string]: unknown;
}
/**
 * host to page: the request failed
 */
export interface BridgeError {
  type: "error";
  id: BridgeId;
  status: BridgeStatus;
  code: string;
  message: string;
  "x-ahp": "http/1";
  [k: string]: unknown;
}
/**
 * host to page: window given back
 */
export interface BridgeGrant {
  type: "grant";
  id: BridgeLaneOrId;
  bytes?: BridgeAmount;
  lane?: BridgeAmount;
  "x-ahp": "http/1";
  [k: string]: unknown;
}
/**
 * page to host: a request begins
 */
export interface BridgeRequest {
  type: "request";
  id: BridgeId;
  method: string;
  path: string;
  headers: BridgeHeaders;
  length?: BridgeSize;
  chunk?: number;
  end?: boolean;
  data?: BridgeBytes;
  "x-ahp": "http/1";
  [k: string]: unknown;
}
/**
 * host to page: the answer's head
 */
export interface BridgeResponse {
  type: "response";
  id: BridgeId;
  status: BridgeStatus;
  statusText?: string;
  headers: BridgeHeaders;
  end?: boolean;
  trailers?: BridgeHeaders;
  data?: BridgeAsked;
  "x-ahp": "http/1";
  [k: string]: unknown;
}
/**
 * CanvasUpdatedAction changes members of a CanvasState: absent keeps a member, null clears it, a value sets it. The host and the instance's provider dispatch it; a provider may not set Availability, Input or IsPrivate (canvas/PROTOCOL.md section 4). From: host, provider. Since 0.6.0. Requires the capability canvas.
 */
export interface CanvasUpdatedAction {
  type: "canvas/updated";
  /**
   * title is the title that people see.
   */
  title?: string | null;
  /**
   * status is a short line of text beside the title.
   */
  status?: string | null;
  /**
   * url is the address of the content.
   */
  url?: string | null;
  /**
   * availability is ready or stale. It cannot be cleared: null is absence.
   */
  availability?: ("ready" | "stale") | null;
  /**
   * input replaces the retained input as a whole.
   */
  input?: unknown;
  /**
   * isPrivate says whether agents may look at the canvas. Only the host sets it, for a person (canvas/PROTOCOL.md section 7.2). It cannot be cleared: null is absence.
   */
  isPrivate?: boolean | null;
  /**
   * _meta changes members of the state's _meta: null removes one, any other value sets it. Of an update of a client, the host takes what a provider announces (canvas/PROTOCOL.md section 4.9).
   */
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * CanvasCloseRequestedAction is dispatched by a client when a person closes the canvas. It changes no state; the host runs the close flow. From: client. Since 0.6.0. Requires the capability canvas.
 */
export interface CanvasCloseRequestedAction {
  type: "canvas/closeRequested";
  /**
   * _meta may contain MetaUndo.
   */
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * CanvasMessageAction carries an opaque payload between a View and the instance's provider (the Canvas proposal (#297), section 10). It changes no state. From: client, provider. Since 0.6.0. Requires the capability canvas.
 */
export interface CanvasMessageAction {
  type: "canvas/message";
  /**
   * payload is any JSON.
   */
  payload: unknown;
  [k: string]: unknown;
}
/**
 * CanvasCloseParams notifies a client provider that a canvas was closed.
 */
export interface CanvasCloseParams {
  /**
   * the session
   */
  channel: string;
  /**
   * the closed instance
   */
  instanceId: string;
  /**
   * its canvas
   */
  canvasId: string;
  /**
   * the client's extension
   */
  extensionId: string;
  [k: string]: unknown;
}
/**
 * canvasClose, both ways. Notifies a client provider that a canvas was closed.
 */
export interface CanvasCloseRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "canvasClose";
  params: CanvasCloseParams;
  [k: string]: unknown;
}
/**
 * The response to canvasClose.
 */
export interface CanvasCloseResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: null;
  [k: string]: unknown;
}
/**
 * x-ahp-canvas/direct, client to host. Returns the address of an open canvas for a page that reaches the host without a relay. It is for people and their editors.
 */
export interface CanvasDirectRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "x-ahp-canvas/direct";
  params: DirectParams;
  [k: string]: unknown;
}
/**
 * DirectParams asks for the address of an open canvas for the frames of a page.
 */
export interface DirectParams {
  /**
   * the instance's ahp-canvas: channel
   */
  channel: string;
  /**
   * of the address's host: 32 lower-case hex digits, the same each time this browser shows this canvas
   */
  label: string;
  [k: string]: unknown;
}
/**
 * The response to x-ahp-canvas/direct.
 */
export interface CanvasDirectResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: DirectResult;
  [k: string]: unknown;
}
/**
 * DirectResult is the address of an open canvas for the frames of a page.
 */
export interface DirectResult {
  /**
   * of the outer frame; it holds a secret that is new each time the canvas is opened
   */
  url: string;
  [k: string]: unknown;
}
/**
 * x-ahp-canvas/history, client to host. Returns what happened in a session.
 */
export interface CanvasHistoryRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "x-ahp-canvas/history";
  params: HistoryParams;
  [k: string]: unknown;
}
/**
 * HistoryParams asks what happened in a session.
 */
export interface HistoryParams {
  /**
   * the session
   */
  channel: string;
  /**
   * HistoryResult.Next of the answer before; 0 asks for everything
   */
  after?: number;
  [k: string]: unknown;
}
/**
 * The response to x-ahp-canvas/history.
 */
export interface CanvasHistoryResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: HistoryResult;
  [k: string]: unknown;
}
/**
 * HistoryResult is what happened in a session.
 */
export interface HistoryResult {
  /**
   * after the position, the oldest first
   */
  happenings: Happening[];
  /**
   * the position of the next question
   */
  next: number;
  [k: string]: unknown;
}
/**
 * Happening is something that happened in a session, for people to read.
 */
export interface Happening {
  /**
   * names it in its session; one that is counted again keeps it
   */
  id: number;
  /**
   * orders the happenings
   */
  seq: number;
  /**
   * RFC 3339, UTC; of the last time
   */
  time: string;
  who: Actor;
  /**
   * one line that follows the name of the actor, such as: closed the canvas
   */
  what: string;
  /**
   * of the canvas; "" if it concerns none
   */
  instanceId?: string;
  /**
   * of the canvas, at that time
   */
  title?: string;
  /**
   * how often it happened in a row
   */
  count: number;
  [k: string]: unknown;
}
/**
 * x-ahp-canvas/invite, client to host. Makes an invitation that a person gives to another one.
 */
export interface CanvasInviteRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "x-ahp-canvas/invite";
  params: InviteParams;
  [k: string]: unknown;
}
/**
 * InviteParams asks for an invitation.
 */
export interface InviteParams {
  /**
   * the session
   */
  channel: string;
  /**
   * of the token that the invitation becomes: "view", or "read" for someone who only sees; "" is "view"
   */
  role?: string;
  [k: string]: unknown;
}
/**
 * The response to x-ahp-canvas/invite.
 */
export interface CanvasInviteResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: InviteResult;
  [k: string]: unknown;
}
/**
 * InviteResult is an invitation, which is good once.
 */
export interface InviteResult {
  /**
   * goes into the link: #invite=…
   */
  invitation: string;
  /**
   * for which it is good
   */
  seconds: number;
  [k: string]: unknown;
}
/**
 * CanvasInvokeActionParams asks a client provider to run an action.
 */
export interface CanvasInvokeActionParams {
  /**
   * the session
   */
  channel: string;
  /**
   * the open instance
   */
  instanceId: string;
  /**
   * its canvas
   */
  canvasId: string;
  /**
   * the client's extension
   */
  extensionId: string;
  /**
   * a declared action
   */
  actionName: string;
  /**
   * fits the action's schema
   */
  input?: unknown;
  /**
   * has the instance's channel under MetaChannel
   */
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * canvasInvokeAction, both ways. Asks a client provider to run an action.
 */
export interface CanvasInvokeActionRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "canvasInvokeAction";
  params: CanvasInvokeActionParams;
  [k: string]: unknown;
}
/**
 * The response to canvasInvokeAction.
 */
export interface CanvasInvokeActionResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: CanvasInvokeActionResult;
  [k: string]: unknown;
}
/**
 * CanvasInvokeActionResult is the result of an action.
 */
export interface CanvasInvokeActionResult {
  /**
   * absent if the action returned no value
   */
  value?: unknown;
  [k: string]: unknown;
}
/**
 * x-ahp-canvas/moved, host to client. Follows everything that the host has published on a connection from which its client has moved.
 */
export interface CanvasMovedNotification {
  jsonrpc: "2.0";
  method: "x-ahp-canvas/moved";
  params: ChannelParams;
  [k: string]: unknown;
}
/**
 * ChannelParams is the params of methods that need only their channel.
 */
export interface ChannelParams {
  /**
   * channel is the channel's URI.
   */
  channel: string;
  [k: string]: unknown;
}
/**
 * CanvasOpenParams asks a client provider to open a canvas (the Canvas proposal (#297), section 5).
 */
export interface CanvasOpenParams {
  /**
   * the session
   */
  channel: string;
  /**
   * the declared canvas
   */
  canvasId: string;
  /**
   * the client's extension
   */
  extensionId: string;
  /**
   * names the instance in the session
   */
  instanceId: string;
  /**
   * fits the declared schema
   */
  input?: unknown;
  /**
   * has the instance's channel under MetaChannel
   */
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * canvasOpen, both ways. Asks a client provider to open a canvas (the Canvas proposal (#297), section 5).
 */
export interface CanvasOpenRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "canvasOpen";
  params: CanvasOpenParams;
  [k: string]: unknown;
}
/**
 * The response to canvasOpen.
 */
export interface CanvasOpenResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: CanvasOpenResult;
  [k: string]: unknown;
}
/**
 * CanvasOpenResult is what people see of the canvas.
 */
export interface CanvasOpenResult {
  /**
   * of the content; "" shows none
   */
  url?: string;
  /**
   * "" sets no title
   */
  title?: string;
  /**
   * "" sets no status
   */
  status?: string;
  [k: string]: unknown;
}
/**
 * x-ahp-canvas/people, client to host. Returns who has a session open.
 */
export interface CanvasPeopleRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "x-ahp-canvas/people";
  params: PeopleParams;
  [k: string]: unknown;
}
/**
 * PeopleParams asks who has a session open, and says how the person is called.
 */
export interface PeopleParams {
  /**
   * the session
   */
  channel: string;
  /**
   * of the person; "" takes it back, absent keeps it
   */
  name?: string;
  [k: string]: unknown;
}
/**
 * The response to x-ahp-canvas/people.
 */
export interface CanvasPeopleResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: PeopleResult;
  [k: string]: unknown;
}
/**
 * PeopleResult is who has a session open.
 */
export interface PeopleResult {
  /**
   * those who came last, first
   */
  people: Person[];
  /**
   * unstored says why the host cannot store changes; "" if it can. A page that reaches the host through a relay learns it here.
   */
  unstored?: string;
  [k: string]: unknown;
}
/**
 * Person is a connection of a person that is subscribed to a session.
 */
export interface Person {
  /**
   * that the person chose; "" if none
   */
  name?: string;
  /**
   * of the connection's token: "view" or "read"
   */
  role: string;
  /**
   * it is the connection that asks
   */
  you?: boolean;
  [k: string]: unknown;
}
/**
 * x-ahp-canvas/personOpen, client to host. Opens a declared canvas for a person. The host refuses a connection of an agent, which has its own endpoint for that.
 */
export interface CanvasPersonOpenRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "x-ahp-canvas/personOpen";
  params: PersonOpenParams;
  [k: string]: unknown;
}
/**
 * PersonOpenParams opens a canvas for a person, without an input.
 */
export interface PersonOpenParams {
  /**
   * the session
   */
  channel: string;
  /**
   * a declared canvas
   */
  canvasId: string;
  /**
   * of its extension; "" if CanvasID alone is unambiguous
   */
  extensionId?: string;
  [k: string]: unknown;
}
/**
 * The response to x-ahp-canvas/personOpen.
 */
export interface CanvasPersonOpenResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: PersonOpenResult;
  [k: string]: unknown;
}
/**
 * PersonOpenResult names the instance that was opened.
 */
export interface PersonOpenResult {
  /**
   * names the instance in its session
   */
  instanceId: string;
  /**
   * its ahp-canvas: channel
   */
  channel: string;
  [k: string]: unknown;
}
/**
 * CanvasProviderError (-32012)
 */
export interface CanvasProviderError {
  code: -32012;
  message: string;
  data: ProviderErrorData;
  [k: string]: unknown;
}
/**
 * A CanvasProviderSource whose kind is "server".
 */
export interface ServerCanvasSource {
  kind: "server";
  [k: string]: unknown;
}
/**
 * A CanvasProviderSource whose kind is "client".
 */
export interface ClientCanvasSource {
  kind: "client";
  /**
   * the client's id, if kind is "client"
   */
  clientId: string;
  [k: string]: unknown;
}
/**
 * CanvasReadResourceParams asks for one resource of an open canvas.
 */
export interface CanvasReadResourceParams {
  /**
   * the instance's ahp-canvas: channel
   */
  channel: string;
  /**
   * an ahp-canvas-content: URI of that instance
   */
  uri: string;
  /**
   * may contain MetaETag
   */
  _meta?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * canvasReadResource, client to host. Asks for one resource of an open canvas.
 */
export interface CanvasReadResourceRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "canvasReadResource";
  params: CanvasReadResourceParams;
  [k: string]: unknown;
}
/**
 * The response to canvasReadResource.
 */
export interface CanvasReadResourceResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: CanvasReadResourceResult;
  [k: string]: unknown;
}
/**
 * CanvasReadResourceResult has exactly one entry in Contents, or none if the reader's copy is still valid.
 */
export interface CanvasReadResourceResult {
  /**
   * at most one
   */
  contents: CanvasResourceContent[];
  /**
   * may contain MetaETag
   */
  _meta?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * CanvasResourceContent is a resource. Exactly one of Text and Blob is set.
 */
export interface CanvasResourceContent {
  /**
   * after redirects inside the instance
   */
  uri: string;
  /**
   * "" if unknown
   */
  mimeType?: string;
  /**
   * the content, if it is text in UTF-8
   */
  text?: string;
  /**
   * the content in base64, otherwise
   */
  blob?: string;
  [k: string]: unknown;
}
/**
 * x-ahp-canvas/setPrivate, client to host. Hides an open canvas from agents that look. It is for people: the host refuses a connection of an agent.
 */
export interface CanvasSetPrivateRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "x-ahp-canvas/setPrivate";
  params: SetPrivateParams;
  [k: string]: unknown;
}
/**
 * SetPrivateParams decides whether agents may look at an open canvas.
 */
export interface SetPrivateParams {
  /**
   * the instance's ahp-canvas: channel
   */
  channel: string;
  /**
   * true hides the canvas from looks
   */
  isPrivate: boolean;
  [k: string]: unknown;
}
/**
 * The response to x-ahp-canvas/setPrivate.
 */
export interface CanvasSetPrivateResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: null;
  [k: string]: unknown;
}
/**
 * CanvasState is the state of the ahp-canvas: channel of an open instance (the Canvas proposal (#297), section 4). It is immutable: an action makes a new one.
 */
export interface CanvasState {
  /**
   * names the instance in its session
   */
  instanceId: string;
  /**
   * the declared canvas
   */
  canvasId: string;
  /**
   * the extension that declared it
   */
  extensionId: string;
  /**
   * for people
   */
  extensionName?: string;
  /**
   * the declaration's, for people
   */
  displayName?: string;
  /**
   * input is the input of the last successful open. A provider that reconnects opens the canvas again with it.
   */
  input?: unknown;
  /**
   * nil if the provider set none
   */
  title?: string;
  /**
   * likewise
   */
  status?: string;
  /**
   * url is the address of the content: a direct one, or an ahp-canvas-content: URI.
   */
  url?: string;
  /**
   * availability is ready, or stale while the provider is unreachable.
   */
  availability: "ready" | "stale";
  provider: CanvasProviderSource;
  /**
   * isPrivate hides the canvas from agents that look: people decide it.
   */
  isPrivate?: boolean;
  /**
   * _meta are facts for pages, such as the bridges that the instance supports, and what happens to the instance now (MetaClosing, MetaAttention, MetaProgress).
   */
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * x-ahp-canvas/undoClose, client to host. Undoes a close that the same client asked for with MetaUndo.
 */
export interface CanvasUndoCloseRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "x-ahp-canvas/undoClose";
  params: UndoCloseParams;
  [k: string]: unknown;
}
/**
 * UndoCloseParams names the canvas whose close a client undoes.
 */
export interface UndoCloseParams {
  /**
   * the instance's ahp-canvas: channel
   */
  channel: string;
  [k: string]: unknown;
}
/**
 * The response to x-ahp-canvas/undoClose.
 */
export interface CanvasUndoCloseResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: null;
  [k: string]: unknown;
}
/**
 * ChatSummary is an entry of a session's catalog of chats.
 */
export interface ChatSummary {
  /**
   * URI of the chat
   */
  resource: string;
  /**
   * for people
   */
  title: string;
  /**
   * bits, like a session's
   */
  status: number;
  /**
   * the current activity, for people
   */
  activity?: string;
  /**
   * ISO 8601
   */
  modifiedAt: string;
  [k: string]: unknown;
}
/**
 * ClientCanvasDeclaration is a canvas that a client declares. The host adds the extension id and the source.
 */
export interface ClientCanvasDeclaration {
  /**
   * unique within the client
   */
  canvasId: string;
  /**
   * the canvas's name, for people
   */
  displayName: string;
  /**
   * what the canvas is for, for the agent
   */
  description: string;
  /**
   * JSON Schema of the input
   */
  inputSchema?: unknown;
  /**
   * actions of the canvas
   */
  actions?: SessionCanvasAction[];
  [k: string]: unknown;
}
/**
 * SessionCanvasAction is an action that a canvas offers.
 */
export interface SessionCanvasAction {
  /**
   * unique within the declaration
   */
  name: string;
  /**
   * what the action does, for the agent
   */
  description?: string;
  /**
   * JSON Schema of the input
   */
  inputSchema?: unknown;
  [k: string]: unknown;
}
/**
 * ClientCapabilities is the capabilities member of initialize. A capability is declared if its member is an object. Unknown names are ignored, whatever their values, because a later version might define them.
 */
export interface ClientCapabilities {
  canvas?: {
    [k: string]: unknown;
  } | null;
  [k: string]: unknown;
}
/**
 * unsubscribe, client to host. Ends a channel's envelopes.
 */
export interface UnsubscribeNotification {
  jsonrpc: "2.0";
  method: "unsubscribe";
  params: ChannelParams;
  [k: string]: unknown;
}
/**
 * dispatchAction, client to host. Asks the host to apply an action.
 */
export interface DispatchActionNotification {
  jsonrpc: "2.0";
  method: "dispatchAction";
  params: DispatchActionParams;
  [k: string]: unknown;
}
/**
 * DispatchActionParams is the params of dispatchAction.
 */
export interface DispatchActionParams {
  /**
   * channel is the channel whose state the action changes.
   */
  channel: string;
  /**
   * clientSeq is a number of the client's choice, which the origin of the envelope repeats.
   */
  clientSeq: number;
  /**
   * action is the action, with its type tag.
   */
  action: unknown;
  [k: string]: unknown;
}
/**
 * initialize, client to host. Opens a connection.
 */
export interface InitializeRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "initialize";
  params: InitializeParams;
  [k: string]: unknown;
}
/**
 * InitializeParams is the params of initialize (ahp/PROTOCOL.md section 2a).
 */
export interface InitializeParams {
  /**
   * channel is the root channel or absent.
   */
  channel?: string;
  /**
   * protocolVersions are the versions that the client speaks.
   *
   * @minItems 1
   */
  protocolVersions: [string, ...string[]];
  /**
   * clientId identifies the client across its connections.
   */
  clientId: string;
  /**
   * initialSubscriptions are channels to subscribe to at once.
   */
  initialSubscriptions?: string[];
  /**
   * locale is the client's language. This host ignores it.
   */
  locale?: string;
  capabilities?: ClientCapabilities;
  /**
   * _meta has extensions; see MetaResume.
   */
  _meta?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * ping, client to host. Is answered at any time, even before initialize.
 */
export interface PingRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "ping";
  params?: PingParams;
  [k: string]: unknown;
}
/**
 * PingParams is the params of ping.
 */
export interface PingParams {
  /**
   * channel is the root channel or absent.
   */
  channel?: string;
  [k: string]: unknown;
}
/**
 * reconnect, client to host. Resumes a client on a new connection.
 */
export interface ReconnectRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "reconnect";
  params: ReconnectParams;
  [k: string]: unknown;
}
/**
 * ReconnectParams is the params of reconnect, which resumes a client on a new connection (ahp/PROTOCOL.md section 2f).
 */
export interface ReconnectParams {
  /**
   * channel is the root channel or absent.
   */
  channel?: string;
  /**
   * clientId is the client to resume.
   */
  clientId: string;
  /**
   * lastSeenServerSeq is the highest sequence number that the client has received.
   */
  lastSeenServerSeq: number;
  /**
   * subscriptions are the channels that the client still wants.
   */
  subscriptions: string[];
  /**
   * _meta has extensions; see MetaResume.
   */
  _meta?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * subscribe, client to host. Returns a channel's snapshot and starts its envelopes.
 */
export interface SubscribeRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "subscribe";
  params: ChannelParams;
  [k: string]: unknown;
}
/**
 * resourceRead, both ways. Returns a resource.
 */
export interface ResourceReadRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "resourceRead";
  params: ResourceReadParams;
  [k: string]: unknown;
}
/**
 * ResourceReadParams is the params of resourceRead (ahp/PROTOCOL.md section 6).
 */
export interface ResourceReadParams {
  /**
   * channel is the root channel or absent.
   */
  channel?: string;
  /**
   * uri is the resource to read.
   */
  uri: string;
  /**
   * encoding is the encoding that the sender prefers. The answer might have another one.
   */
  encoding?: string;
  [k: string]: unknown;
}
/**
 * resourceRequest, both ways. Asks for access. This host always denies it.
 */
export interface ResourceRequestRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "resourceRequest";
  params: ResourceURIParams;
  [k: string]: unknown;
}
/**
 * ResourceURIParams is the params of resource methods of which this host reads only the URI.
 */
export interface ResourceURIParams {
  /**
   * channel is the root channel or absent.
   */
  channel?: string;
  /**
   * uri is the resource.
   */
  uri: string;
  [k: string]: unknown;
}
/**
 * resourceResolve, both ways. Describes a resource without returning it.
 */
export interface ResourceResolveRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "resourceResolve";
  params: ResourceURIParams;
  [k: string]: unknown;
}
/**
 * resourceList, both ways. Lists a folder. This host has none.
 */
export interface ResourceListRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "resourceList";
  params: ResourceURIParams;
  [k: string]: unknown;
}
/**
 * createSession, client to host. Creates a session with a URI that the client has chosen.
 */
export interface CreateSessionRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "createSession";
  params: CreateSessionParams;
  [k: string]: unknown;
}
/**
 * CreateSessionParams creates a session with a URI that the client has chosen.
 */
export interface CreateSessionParams {
  /**
   * ahp-session:/<id>
   */
  channel: string;
  /**
   * the agent provider; default is the host's
   */
  provider?: string;
  /**
   * URI of a folder
   */
  workingDirectory?: string;
  /**
   * refused by this host
   */
  fork?: unknown;
  /**
   * ignored by this host
   */
  config?: {
    [k: string]: unknown;
  };
  activeClient?: SessionActiveClient;
  /**
   * ignored by this host
   */
  progressToken?: string;
  [k: string]: unknown;
}
/**
 * SessionActiveClient is a client that takes part in a session.
 */
export interface SessionActiveClient {
  /**
   * the client's id
   */
  clientId: string;
  /**
   * the client's name, for people
   */
  displayName?: string;
  /**
   * tools of the client
   */
  tools: ToolDefinition[];
  /**
   * passed through
   */
  customizations?: unknown;
  /**
   * canvasProviders are the canvases that the client declares (the Canvas proposal, #297, section 2).
   */
  canvasProviders?: ClientCanvasDeclaration[];
  [k: string]: unknown;
}
/**
 * ToolDefinition describes a tool. All members except the name are passed through.
 */
export interface ToolDefinition {
  /**
   * the tool's name
   */
  name: string;
  [k: string]: unknown;
}
/**
 * disposeSession, client to host. Removes a session and everything in it.
 */
export interface DisposeSessionRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "disposeSession";
  params: ChannelParams;
  [k: string]: unknown;
}
/**
 * listSessions, client to host. Requests the catalog of sessions. A filter has no defined meaning and is ignored.
 */
export interface ListSessionsRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "listSessions";
  params?: ListSessionsParams;
  [k: string]: unknown;
}
/**
 * ListSessionsParams requests the catalog of sessions. A filter has no defined meaning and is ignored.
 */
export interface ListSessionsParams {
  /**
   * ahp-root://
   */
  channel?: string;
  /**
   * most sessions of the result; default is as many as fit
   */
  limit?: number;
  /**
   * nextCursor of the result before
   */
  cursor?: string;
  [k: string]: unknown;
}
/**
 * resolveSessionConfig, client to host. Asks which config a session would have.
 */
export interface ResolveSessionConfigRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "resolveSessionConfig";
  params?: ResolveSessionConfigParams;
  [k: string]: unknown;
}
/**
 * ResolveSessionConfigParams asks which config a session would have.
 */
export interface ResolveSessionConfigParams {
  /**
   * ahp-root://
   */
  channel?: string;
  /**
   * the agent provider
   */
  provider?: string;
  /**
   * values chosen so far
   */
  config?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * sessionConfigCompletions, client to host. Requests possible values of a config property.
 */
export interface SessionConfigCompletionsRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "sessionConfigCompletions";
  params: SessionConfigCompletionsParams;
  [k: string]: unknown;
}
/**
 * SessionConfigCompletionsParams requests possible values of a config property.
 */
export interface SessionConfigCompletionsParams {
  /**
   * ahp-root://
   */
  channel?: string;
  /**
   * name of the property
   */
  property: string;
  [k: string]: unknown;
}
/**
 * CompletionsResult has no items, because there is no config.
 */
export interface CompletionsResult {
  /**
   * empty
   */
  items: unknown[];
  [k: string]: unknown;
}
/**
 * Config has values and the schema that they must match.
 */
export interface Config {
  /**
   * JSON Schema of an object
   */
  schema: unknown;
  /**
   * by property name
   */
  values: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * ConfigSchema is the schema of an object without properties.
 */
export interface ConfigSchema {
  /**
   * "object"
   */
  type: string;
  /**
   * empty
   */
  properties: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Conflict (-32011)
 */
export interface ConflictError {
  code: -32011;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * The response to createSession.
 */
export interface CreateSessionResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: null;
  [k: string]: unknown;
}
/**
 * The response to disposeSession.
 */
export interface DisposeSessionResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: null;
  [k: string]: unknown;
}
/**
 * A client's response to a request that failed. Its code can be any.
 */
export interface ErrorResponse {
  jsonrpc: "2.0";
  id: RequestId | null;
  error: JsonRpcError;
  [k: string]: unknown;
}
/**
 * JsonRpcError is the error object of a JSON-RPC response.
 */
export interface JsonRpcError {
  /**
   * code is the kind of error.
   */
  code: number;
  /**
   * message is one sentence for people.
   */
  message: string;
  /**
   * data has details for programs. Its type depends on the code.
   */
  data?: unknown;
  [k: string]: unknown;
}
/**
 * SessionNotFound (-32001)
 */
export interface SessionNotFoundError {
  code: -32001;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * ProviderNotFound (-32002)
 */
export interface ProviderNotFoundError {
  code: -32002;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * SessionAlreadyExists (-32003)
 */
export interface SessionAlreadyExistsError {
  code: -32003;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * UnsupportedProtocolVersion (-32005)
 */
export interface UnsupportedProtocolVersionError {
  code: -32005;
  message: string;
  data: UnsupportedVersionData;
  [k: string]: unknown;
}
/**
 * UnsupportedVersionData is the data of CodeUnsupportedProtocolVersion.
 */
export interface UnsupportedVersionData {
  /**
   * supportedVersions are SemVer ranges, newest first.
   */
  supportedVersions: string[];
  [k: string]: unknown;
}
/**
 * NotFound (-32008)
 */
export interface NotFoundError {
  code: -32008;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * PermissionDenied (-32009)
 */
export interface PermissionDeniedError {
  code: -32009;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * InvalidRequest (-32600)
 */
export interface InvalidRequestError {
  code: -32600;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * MethodNotFound (-32601)
 */
export interface MethodNotFoundError {
  code: -32601;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * InvalidParams (-32602)
 */
export interface InvalidParamsError {
  code: -32602;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * InternalError (-32603)
 */
export interface InternalError {
  code: -32603;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * ParseError (-32700)
 */
export interface ParseError {
  code: -32700;
  message: string;
  data?: unknown;
  [k: string]: unknown;
}
/**
 * The host's response to a request that failed. The id is null if that of the request could not be read.
 */
export interface HostErrorResponse {
  jsonrpc: "2.0";
  id: RequestId | null;
  error: HostError;
  [k: string]: unknown;
}
/**
 * root/sessionAdded, host to client. Announces a new session.
 */
export interface RootSessionAddedNotification {
  jsonrpc: "2.0";
  method: "root/sessionAdded";
  params: SessionAddedParams;
  [k: string]: unknown;
}
/**
 * SessionAddedParams announces a new session.
 */
export interface SessionAddedParams {
  /**
   * ahp-root://
   */
  channel: string;
  summary: SessionSummary;
  [k: string]: unknown;
}
/**
 * SessionSummary is a session's entry in the catalog of sessions (listSessions, root/sessionAdded). It is not part of the session's state.
 */
export interface SessionSummary {
  /**
   * URI of the session
   */
  resource: string;
  /**
   * the agent provider
   */
  provider: string;
  /**
   * for people
   */
  title: string;
  /**
   * bits, as in the session's state
   */
  status: number;
  /**
   * the current activity, for people
   */
  activity?: string;
  /**
   * passed through
   */
  project?: unknown;
  /**
   * URI of a folder
   */
  workingDirectory?: string;
  /**
   * passed through
   */
  annotations?: unknown;
  /**
   * ISO 8601, UTC, milliseconds
   */
  createdAt: string;
  /**
   * ISO 8601, UTC, milliseconds
   */
  modifiedAt: string;
  /**
   * passed through
   */
  changes?: unknown;
  /**
   * passed through
   */
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * root/sessionRemoved, host to client. Announces that a session was removed.
 */
export interface RootSessionRemovedNotification {
  jsonrpc: "2.0";
  method: "root/sessionRemoved";
  params: SessionRemovedParams;
  [k: string]: unknown;
}
/**
 * SessionRemovedParams announces that a session was removed.
 */
export interface SessionRemovedParams {
  /**
   * ahp-root://
   */
  channel: string;
  /**
   * URI of the session
   */
  session: string;
  [k: string]: unknown;
}
/**
 * root/sessionSummaryChanged, host to client. Announces changes of a session's summary.
 */
export interface RootSessionSummaryChangedNotification {
  jsonrpc: "2.0";
  method: "root/sessionSummaryChanged";
  params: SessionSummaryChangedParams;
  [k: string]: unknown;
}
/**
 * SessionSummaryChangedParams announces changes of a session's summary.
 */
export interface SessionSummaryChangedParams {
  /**
   * ahp-root://
   */
  channel: string;
  /**
   * URI of the session
   */
  session: string;
  changes: PartialSessionSummary;
  [k: string]: unknown;
}
/**
 * PartialSessionSummary is the changes member of root/sessionSummaryChanged. It has only the members that changed; null clears one.
 */
export interface PartialSessionSummary {
  /**
   * the new title
   */
  title?: string | null;
  /**
   * the new bits
   */
  status?: number | null;
  /**
   * the new activity
   */
  activity?: string | null;
  /**
   * never changed by this host
   */
  project?: unknown;
  /**
   * the new folder
   */
  workingDirectory?: string | null;
  /**
   * never changed by this host
   */
  annotations?: unknown;
  /**
   * ISO 8601, UTC, milliseconds
   */
  modifiedAt?: string | null;
  [k: string]: unknown;
}
/**
 * The response to initialize.
 */
export interface InitializeResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: InitializeResult;
  [k: string]: unknown;
}
/**
 * InitializeResult is the result of initialize.
 */
export interface InitializeResult {
  /**
   * protocolVersion is the version that the host chose, as the client offered it.
   */
  protocolVersion: string;
  /**
   * serverSeq is the newest sequence number of the host.
   */
  serverSeq: number;
  /**
   * snapshots are those of the initial subscriptions whose channels exist.
   */
  snapshots: Snapshot[];
  serverInfo?: ServerInfo;
  /**
   * _meta has extensions; see MetaResume.
   */
  _meta?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Snapshot is the state of one channel.
 */
export interface Snapshot {
  /**
   * resource is the channel's URI.
   */
  resource: string;
  /**
   * state is the channel's state.
   */
  state: unknown;
  /**
   * fromSeq is the sequence number of the state. Later envelopes of the channel have higher ones.
   */
  fromSeq: number;
  [k: string]: unknown;
}
/**
 * ServerInfo describes the host to people.
 */
export interface ServerInfo {
  /**
   * name is the program's name.
   */
  name: string;
  /**
   * version is the program's version.
   */
  version?: string;
  /**
   * title is a name to display.
   */
  title?: string;
  [k: string]: unknown;
}
/**
 * The response to listSessions.
 */
export interface ListSessionsResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: ListSessionsResult;
  [k: string]: unknown;
}
/**
 * ListSessionsResult is the catalog of sessions, the most recently modified first.
 */
export interface ListSessionsResult {
  /**
   * the sessions, at most about 1 MiB of them
   */
  items: SessionSummary[];
  /**
   * present if there are more sessions
   */
  nextCursor?: string;
  [k: string]: unknown;
}
/**
 * OpenCanvasRef is an entry of the catalog of open instances. The full state is on the instance's own channel.
 */
export interface OpenCanvasRef {
  /**
   * unique within the session
   */
  instanceId: string;
  /**
   * ahp-canvas:/<id>
   */
  channel: string;
  /**
   * id of the declaration
   */
  canvasId: string;
  /**
   * id of the providing extension
   */
  extensionId: string;
  /**
   * the extension's name, for people
   */
  extensionName?: string;
  /**
   * the instance's title, for people
   */
  title?: string;
  /**
   * whether the provider can be reached
   */
  availability: "ready" | "stale";
  [k: string]: unknown;
}
/**
 * The response to ping.
 */
export interface PingResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: null;
  [k: string]: unknown;
}
/**
 * A ReconnectResult whose type is "replay".
 */
export interface ReconnectReplayResult {
  type: "replay";
  /**
   * actions are the missed envelopes of a replay, in their order.
   */
  actions: ActionEnvelope[];
  /**
   * missing are the channels of a replay that do not exist any more.
   */
  missing: string[];
  [k: string]: unknown;
}
/**
 * The response to reconnect.
 */
export interface ReconnectResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: ReconnectResult;
  [k: string]: unknown;
}
/**
 * A ReconnectResult whose type is "snapshot".
 */
export interface ReconnectSnapshotResult {
  type: "snapshot";
  /**
   * snapshots are those of the channels that exist, if there is no replay.
   */
  snapshots: Snapshot[];
  [k: string]: unknown;
}
/**
 * The response to resolveSessionConfig.
 */
export interface ResolveSessionConfigResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: ResolveSessionConfigResult;
  [k: string]: unknown;
}
/**
 * ResolveSessionConfigResult says that sessions of this host have no config.
 */
export interface ResolveSessionConfigResult {
  schema: ConfigSchema;
  /**
   * empty
   */
  values: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The response to resourceList.
 */
export interface ResourceListResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The response to resourceRead.
 */
export interface ResourceReadResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: ResourceReadResult;
  [k: string]: unknown;
}
/**
 * ResourceReadResult is the result of resourceRead: the whole resource.
 */
export interface ResourceReadResult {
  /**
   * data is the resource, encoded.
   */
  data: string;
  /**
   * encoding is "utf-8" or "base64".
   */
  encoding: "utf-8" | "base64";
  /**
   * contentType is the media type.
   */
  contentType?: string;
  [k: string]: unknown;
}
/**
 * The response to resourceRequest.
 */
export interface ResourceRequestResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The response to resourceResolve.
 */
export interface ResourceResolveResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: ResourceResolveResult;
  [k: string]: unknown;
}
/**
 * ResourceResolveResult is the result of resourceResolve.
 */
export interface ResourceResolveResult {
  /**
   * uri is the resource.
   */
  uri: string;
  /**
   * type is "file".
   */
  type: string;
  /**
   * size is the number of bytes, if it is known without reading the resource.
   */
  size?: number;
  /**
   * contentType is the media type.
   */
  contentType?: string;
  /**
   * etag changes when the resource changes.
   */
  etag?: string;
  [k: string]: unknown;
}
/**
 * RootAgentsChangedAction replaces the agents. From: host. Since 0.5.0.
 */
export interface RootAgentsChangedAction {
  type: "root/agentsChanged";
  /**
   * agents are the new agents.
   */
  agents: AgentInfo[];
  [k: string]: unknown;
}
/**
 * RootActiveSessionsChangedAction sets the number of sessions. From: host. Since 0.5.0.
 */
export interface RootActiveSessionsChangedAction {
  type: "root/activeSessionsChanged";
  /**
   * activeSessions is the new number.
   */
  activeSessions: number;
  [k: string]: unknown;
}
/**
 * RootTerminalsChangedAction replaces the terminals. This host has none. From: host. Since 0.5.0.
 */
export interface RootTerminalsChangedAction {
  type: "root/terminalsChanged";
  /**
   * terminals are the new terminals.
   */
  terminals: unknown[];
  [k: string]: unknown;
}
/**
 * RootConfigChangedAction merges config values, or replaces all of them. From: host, client. Since 0.5.0.
 */
export interface RootConfigChangedAction {
  type: "root/configChanged";
  /**
   * config are the new values.
   */
  config: {
    [k: string]: unknown;
  };
  /**
   * replace replaces all values.
   */
  replace?: boolean;
  [k: string]: unknown;
}
/**
 * RootState is the state of the root channel (ahp/PROTOCOL.md section 4).
 */
export interface RootState {
  /**
   * agents for which sessions can be created
   */
  agents: AgentInfo[];
  /**
   * number of sessions
   */
  activeSessions?: number;
  /**
   * this host has none
   */
  terminals?: unknown[];
  config?: Config;
  /**
   * passed through
   */
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * SessionReadyAction reports that the session can be used. From: host. Since 0.5.0.
 */
export interface SessionReadyAction {
  type: "session/ready";
  [k: string]: unknown;
}
/**
 * SessionCreationFailedAction reports why the session cannot be used. From: host. Since 0.5.0.
 */
export interface SessionCreationFailedAction {
  type: "session/creationFailed";
  /**
   * error is the cause.
   */
  error: unknown;
  [k: string]: unknown;
}
/**
 * SessionTitleChangedAction sets the title. From: host, client. Since 0.5.0.
 */
export interface SessionTitleChangedAction {
  type: "session/titleChanged";
  /**
   * title is the new title.
   */
  title: string;
  [k: string]: unknown;
}
/**
 * SessionIsReadChangedAction sets or clears bit 32 of the status. From: host, client. Since 0.5.0.
 */
export interface SessionIsReadChangedAction {
  type: "session/isReadChanged";
  /**
   * isRead is the new value.
   */
  isRead: boolean;
  [k: string]: unknown;
}
/**
 * SessionIsArchivedChangedAction sets or clears bit 64 of the status. From: host, client. Since 0.5.0.
 */
export interface SessionIsArchivedChangedAction {
  type: "session/isArchivedChanged";
  /**
   * isArchived is the new value.
   */
  isArchived: boolean;
  [k: string]: unknown;
}
/**
 * SessionActivityChangedAction sets or clears the session's current activity. From: host. Since 0.5.0.
 */
export interface SessionActivityChangedAction {
  type: "session/activityChanged";
  /**
   * activity is the new activity; absent clears it.
   */
  activity?: string | null;
  [k: string]: unknown;
}
/**
 * SessionServerToolsChangedAction replaces the host's tools. From: host. Since 0.5.0.
 */
export interface SessionServerToolsChangedAction {
  type: "session/serverToolsChanged";
  /**
   * tools are the new tools.
   */
  tools: ToolDefinition[];
  [k: string]: unknown;
}
/**
 * SessionActiveClientSetAction adds or replaces the sender's own entry. From: host, client. Since 0.5.0.
 */
export interface SessionActiveClientSetAction {
  type: "session/activeClientSet";
  activeClient: SessionActiveClient;
  [k: string]: unknown;
}
/**
 * SessionActiveClientRemovedAction removes the sender's own entry. From: host, client. Since 0.5.0.
 */
export interface SessionActiveClientRemovedAction {
  type: "session/activeClientRemoved";
  /**
   * clientId is the sender's client id.
   */
  clientId: string;
  [k: string]: unknown;
}
/**
 * SessionConfigChangedAction merges config values by name, or replaces all of them. It changes nothing if the session has no config. From: host, client. Since 0.5.0.
 */
export interface SessionConfigChangedAction {
  type: "session/configChanged";
  /**
   * config are the new values; null is a value like any other.
   */
  config: {
    [k: string]: unknown;
  };
  /**
   * replace replaces all values.
   */
  replace?: boolean;
  [k: string]: unknown;
}
/**
 * SessionMetaChangedAction replaces or clears _meta. From: host. Since 0.5.0.
 */
export interface SessionMetaChangedAction {
  type: "session/metaChanged";
  /**
   * _meta is the new value; absent clears it.
   */
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * SessionChangesetsChangedAction replaces or clears the catalog of changesets. From: host. Since 0.5.0.
 */
export interface SessionChangesetsChangedAction {
  type: "session/changesetsChanged";
  /**
   * changesets are the new entries; absent clears the catalog.
   */
  changesets?: unknown[] | null;
  [k: string]: unknown;
}
/**
 * SessionChatAddedAction adds a chat to the catalog, or replaces it. From: host. Since 0.5.0.
 */
export interface SessionChatAddedAction {
  type: "session/chatAdded";
  summary: ChatSummary;
  [k: string]: unknown;
}
/**
 * SessionChatRemovedAction removes a chat. If it was the default chat, that is cleared. From: host. Since 0.5.0.
 */
export interface SessionChatRemovedAction {
  type: "session/chatRemoved";
  /**
   * chat is the chat's resource.
   */
  chat: string;
  [k: string]: unknown;
}
/**
 * SessionChatUpdatedAction changes members of a chat's catalog entry, except its resource. From: host. Since 0.5.0.
 */
export interface SessionChatUpdatedAction {
  type: "session/chatUpdated";
  /**
   * chat is the chat's resource.
   */
  chat: string;
  /**
   * changes are the new values of members; null clears a member.
   */
  changes: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * SessionDefaultChatChangedAction sets or clears the default chat. From: host. Since 0.5.0.
 */
export interface SessionDefaultChatChangedAction {
  type: "session/defaultChatChanged";
  /**
   * defaultChat is the chat's resource; absent clears it.
   */
  defaultChat?: string | null;
  [k: string]: unknown;
}
/**
 * SessionCustomizationsChangedAction replaces all customizations. From: host. Since 0.5.0.
 */
export interface SessionCustomizationsChangedAction {
  type: "session/customizationsChanged";
  /**
   * customizations are the new customizations.
   *
   * Items: Customization is a plugin, a directory, a skill, an MCP server, or of a type that is unknown to this host. The host reads only the members that its reducers need. It keeps all other members, and members of the wrong type, unchanged.
   */
  customizations: {
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * SessionCustomizationUpdatedAction adds a top-level customization, or replaces the one with its id. From: host. Since 0.5.0.
 */
export interface SessionCustomizationUpdatedAction {
  type: "session/customizationUpdated";
  /**
   * customization is the new customization.
   */
  customization: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * SessionCustomizationRemovedAction removes the top-level customization with an id or, if there is none, every child with it. Customizations with children are containers, except MCP servers. From: host. Since 0.5.0.
 */
export interface SessionCustomizationRemovedAction {
  type: "session/customizationRemoved";
  /**
   * id is the id of the customization.
   */
  id: string;
  [k: string]: unknown;
}
/**
 * SessionCustomizationToggledAction enables or disables a top-level customization. From: host, client. Since 0.5.0.
 */
export interface SessionCustomizationToggledAction {
  type: "session/customizationToggled";
  /**
   * id is the id of the customization.
   */
  id: string;
  /**
   * enabled is the new value.
   */
  enabled: boolean;
  [k: string]: unknown;
}
/**
 * SessionMcpServerStateChangedAction sets the state and the channel of an MCP server, which is found by its id as in CustomizationRemoved. Other customizations do not change. From: host. Since 0.5.0.
 */
export interface SessionMcpServerStateChangedAction {
  type: "session/mcpServerStateChanged";
  /**
   * id is the id of the MCP server.
   */
  id: string;
  /**
   * state is the new state.
   */
  state: unknown;
  /**
   * channel is the URI of the server's channel; absent clears it.
   */
  channel?: string | null;
  [k: string]: unknown;
}
/**
 * SessionCanvasesChangedAction replaces the canvas registry (the Canvas proposal, #297, section 7). From: host. Since 0.6.0. Requires the capability canvas.
 */
export interface SessionCanvasesChangedAction {
  type: "session/canvasesChanged";
  /**
   * canvases are the declarations of all providers.
   */
  canvases: SessionCanvasDeclaration[];
  [k: string]: unknown;
}
/**
 * SessionCanvasDeclaration is an entry of the canvas registry, which is the union of the declarations of all connected providers (the Canvas proposal, #297, section 2).
 */
export interface SessionCanvasDeclaration {
  /**
   * id of the providing extension
   */
  extensionId: string;
  /**
   * the extension's name, for people
   */
  extensionName?: string;
  /**
   * unique within the extension
   */
  canvasId: string;
  /**
   * the canvas's name, for people
   */
  displayName: string;
  /**
   * what the canvas is for, for the agent
   */
  description: string;
  /**
   * JSON Schema of the input
   */
  inputSchema?: unknown;
  /**
   * actions of the canvas
   */
  actions?: SessionCanvasAction[];
  source: CanvasProviderSource;
  [k: string]: unknown;
}
/**
 * SessionOpenCanvasesChangedAction replaces the catalog of open canvases. From: host. Since 0.6.0. Requires the capability canvas.
 */
export interface SessionOpenCanvasesChangedAction {
  type: "session/openCanvasesChanged";
  /**
   * openCanvases are the catalog entries.
   */
  openCanvases: OpenCanvasRef[];
  [k: string]: unknown;
}
/**
 * SessionActiveClientChangedAction is the Canvas proposal's older spelling of two actions. null removes the entry, so the member is required. From: client. Since 0.5.0. An older spelling that a host accepts from clients and never sends.
 */
export interface SessionActiveClientChangedAction {
  type: "session/activeClientChanged";
  activeClient: SessionActiveClient | null;
  [k: string]: unknown;
}
/**
 * The response to sessionConfigCompletions.
 */
export interface SessionConfigCompletionsResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: CompletionsResult;
  [k: string]: unknown;
}
/**
 * SessionState is the state of a session channel (ahp/PROTOCOL.md section 3a), with two members of the Canvas proposal (#297, section 2). Slices and values in it are never changed in place.
 */
export interface SessionState {
  /**
   * the agent provider
   */
  provider: string;
  /**
   * for people
   */
  title: string;
  /**
   * bits: 1 idle, 2 error, 8 in progress, 24 input needed, 32 read, 64 archived
   */
  status: number;
  /**
   * the current activity, for people
   */
  activity?: string;
  /**
   * passed through
   */
  project?: unknown;
  /**
   * URI of a folder
   */
  workingDirectory?: string;
  /**
   * passed through
   */
  annotations?: unknown;
  /**
   * whether the session is created
   */
  lifecycle: "creating" | "ready" | "creationFailed";
  /**
   * why the creation failed
   */
  creationError?: unknown;
  /**
   * tools of the host
   */
  serverTools?: ToolDefinition[];
  /**
   * clients that take part
   */
  activeClients: SessionActiveClient[];
  /**
   * catalog of chats
   */
  chats: ChatSummary[];
  /**
   * resource of the default chat
   */
  defaultChat?: string;
  config?: Config;
  /**
   * plugins, skills, MCP servers
   *
   * Items: Customization is a plugin, a directory, a skill, an MCP server, or of a type that is unknown to this host. The host reads only the members that its reducers need. It keeps all other members, and members of the wrong type, unchanged.
   */
  customizations?: {
    [k: string]: unknown;
  }[];
  /**
   * catalog of changesets
   */
  changesets?: unknown[];
  /**
   * metadata of clients and hosts
   */
  _meta?: unknown;
  /**
   * passed through
   */
  inputNeeded?: unknown;
  /**
   * canvases that can be opened
   */
  canvases?: SessionCanvasDeclaration[];
  /**
   * catalog of open canvases
   */
  openCanvases?: OpenCanvasRef[];
  [k: string]: unknown;
}
/**
 * The response to subscribe.
 */
export interface SubscribeResponse {
  jsonrpc: "2.0";
  id: RequestId;
  result: SubscribeResult;
  [k: string]: unknown;
}
/**
 * SubscribeResult is the result of subscribe.
 */
export interface SubscribeResult {
  snapshot?: Snapshot;
  [k: string]: unknown;
}
