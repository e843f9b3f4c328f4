// Generated from bundle.json by proof/typescript.mjs: do not edit.
// https://github.com/ahp-canvas/ahp-canvas/schema/0.6.0/bundle.json

/**
 * The id of a request, chosen by its sender and repeated in the response.
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
 * One payload of canvas/message that carries HTTP. PROTOCOL.md says what the messages mean.
 */
export type BridgeMessage =
  BridgeRequest | BridgeBody | BridgeCredit | BridgeCancel | BridgeResponse | BridgeData | BridgeGrant | BridgeError;
/**
 * An action of an ahp-canvas: channel, identified by its type.
 */
export type CanvasAction = CanvasUpdatedAction | CanvasCloseRequestedAction | CanvasMessageAction;
/**
 * CanvasProviderSource says where a declaration came from.
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
  | CanvasCloseRequest;
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
 * AgentInfo is one provider of sessions. A client can only offer to make a session where there is one.
 */
export interface AgentInfo {
  provider: string;
  displayName: string;
  description: string;
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
 * CanvasUpdatedAction changes members of a CanvasState: absent keeps, null clears, a value sets. The host sends it, and the provider of the instance, who may leave neither Availability nor Input in it (canvas.md section 4). From: host, provider. Since 0.6.0. Requires the capability canvas.
 */
export interface CanvasUpdatedAction {
  type: "canvas/updated";
  title?: string | null;
  status?: string | null;
  url?: string | null;
  availability?: "ready" | "stale";
  /**
   * input replaces the retained input as a whole; only the host sends it.
   */
  input?: unknown;
  [k: string]: unknown;
}
/**
 * CanvasCloseRequestedAction says that a person wants the canvas closed. It changes no state; the host runs the close flow. From: client. Since 0.6.0. Requires the capability canvas.
 */
export interface CanvasCloseRequestedAction {
  type: "canvas/closeRequested";
  [k: string]: unknown;
}
/**
 * CanvasMessageAction carries an opaque payload between a View and the instance's provider (#297 section 10). It changes no state. From: client, provider. Since 0.6.0. Requires the capability canvas.
 */
export interface CanvasMessageAction {
  type: "canvas/message";
  payload: unknown;
  [k: string]: unknown;
}
/**
 * CanvasCloseParams tells a client provider that a canvas is closed.
 */
export interface CanvasCloseParams {
  /**
   * the session
   */
  channel: string;
  instanceId: string;
  canvasId: string;
  extensionId: string;
  [k: string]: unknown;
}
/**
 * canvasClose, both ways. Tells a client provider that a canvas is closed.
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
 * CanvasInvokeActionParams asks a client provider to run an action.
 */
export interface CanvasInvokeActionParams {
  /**
   * the session
   */
  channel: string;
  instanceId: string;
  canvasId: string;
  extensionId: string;
  actionName: string;
  input?: unknown;
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
 * CanvasInvokeActionResult is the action's value, absent where it has none.
 */
export interface CanvasInvokeActionResult {
  value?: unknown;
  [k: string]: unknown;
}
/**
 * CanvasOpenParams asks a client provider to open a canvas (#297 section 5).
 */
export interface CanvasOpenParams {
  /**
   * the session
   */
  channel: string;
  canvasId: string;
  extensionId: string;
  instanceId: string;
  input?: unknown;
  [k: string]: unknown;
}
/**
 * canvasOpen, both ways. Asks a client provider to open a canvas (#297 section 5).
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
  url?: string;
  title?: string;
  status?: string;
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
   * of a client's, and only there
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
 * CanvasReadResourceResult has exactly one entry, or none where the reader's validator still holds.
 */
export interface CanvasReadResourceResult {
  contents: CanvasResourceContent[];
  _meta?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * CanvasResourceContent is a resource, as text or base64: exactly one of the two.
 */
export interface CanvasResourceContent {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  [k: string]: unknown;
}
/**
 * CanvasState is the state of one open instance, as its ahp-canvas: channel carries it (#297 section 4). Values in it are never changed in place.
 */
export interface CanvasState {
  instanceId: string;
  canvasId: string;
  extensionId: string;
  extensionName?: string;
  displayName?: string;
  /**
   * input is what the agent opened the canvas with; it is kept, so that a provider that comes back can open again.
   */
  input?: unknown;
  title?: string;
  status?: string;
  /**
   * url is where the content is: a direct address or an ahp-canvas-content: one.
   */
  url?: string;
  availability: "ready" | "stale";
  provider: CanvasProviderSource;
  _meta?: unknown;
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
 * ChatSummary is an entry of a session's chat catalogue.
 */
export interface ChatSummary {
  resource: string;
  title: string;
  status: number;
  activity?: string;
  /**
   * ISO 8601
   */
  modifiedAt: string;
  [k: string]: unknown;
}
/**
 * ClientCanvasDeclaration is the lighter shape that a client publishes; the host derives extensionId and source.
 */
export interface ClientCanvasDeclaration {
  canvasId: string;
  displayName: string;
  description: string;
  inputSchema?: unknown;
  actions?: SessionCanvasAction[];
  [k: string]: unknown;
}
/**
 * SessionCanvasAction is an action that a canvas understands.
 */
export interface SessionCanvasAction {
  /**
   * unique within the declaration
   */
  name: string;
  description?: string;
  inputSchema?: unknown;
  [k: string]: unknown;
}
/**
 * ClientCapabilities is the capabilities member of initialize. A capability is declared if its member is an object. Unknown names are kept.
 */
export interface ClientCapabilities {
  [k: string]: {
    [k: string]: unknown;
  } | null;
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
 * createSession, client to host. Makes a session under a URI that the client chose.
 */
export interface CreateSessionRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "createSession";
  params: CreateSessionParams;
  [k: string]: unknown;
}
/**
 * CreateSessionParams makes a session under a URI that the client chose.
 */
export interface CreateSessionParams {
  channel: string;
  provider?: string;
  workingDirectory?: string;
  fork?: unknown;
  config?: {
    [k: string]: unknown;
  };
  activeClient?: SessionActiveClient;
  progressToken?: string;
  [k: string]: unknown;
}
/**
 * SessionActiveClient is a client that takes part in a session.
 */
export interface SessionActiveClient {
  clientId: string;
  displayName?: string;
  tools: ToolDefinition[];
  customizations?: unknown;
  /**
   * canvasProviders are the canvases that the client provides (#297 section 2).
   */
  canvasProviders?: ClientCanvasDeclaration[];
  [k: string]: unknown;
}
/**
 * ToolDefinition names a tool; everything but its name is passed through.
 */
export interface ToolDefinition {
  name: string;
  [k: string]: unknown;
}
/**
 * disposeSession, client to host. Ends a session and all that is in it.
 */
export interface DisposeSessionRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "disposeSession";
  params: ChannelParams;
  [k: string]: unknown;
}
/**
 * listSessions, client to host. Asks for the catalogue. A filter has no defined meaning and is ignored, like limit and cursor of later versions: the answer is everything.
 */
export interface ListSessionsRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "listSessions";
  params?: ListSessionsParams;
  [k: string]: unknown;
}
/**
 * ListSessionsParams asks for the catalogue. A filter has no defined meaning and is ignored, like limit and cursor of later versions: the answer is everything.
 */
export interface ListSessionsParams {
  channel?: string;
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
  channel?: string;
  provider?: string;
  config?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * sessionConfigCompletions, client to host. Asks for values of a config property.
 */
export interface SessionConfigCompletionsRequest {
  jsonrpc: "2.0";
  id: RequestId;
  method: "sessionConfigCompletions";
  params: SessionConfigCompletionsParams;
  [k: string]: unknown;
}
/**
 * SessionConfigCompletionsParams asks for values of a config property.
 */
export interface SessionConfigCompletionsParams {
  channel?: string;
  property: string;
  [k: string]: unknown;
}
/**
 * CompletionsResult has no items: there is nothing to complete.
 */
export interface CompletionsResult {
  items: unknown[];
  [k: string]: unknown;
}
/**
 * Config is a set of values and the schema of what they may be.
 */
export interface Config {
  schema: unknown;
  values: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * ConfigSchema is the empty schema of an object.
 */
export interface ConfigSchema {
  type: string;
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
 * root/sessionAdded, host to client. Tells of a new session.
 */
export interface RootSessionAddedNotification {
  jsonrpc: "2.0";
  method: "root/sessionAdded";
  params: SessionAddedParams;
  [k: string]: unknown;
}
/**
 * SessionAddedParams tells of a new session.
 */
export interface SessionAddedParams {
  channel: string;
  summary: SessionSummary;
  [k: string]: unknown;
}
/**
 * SessionSummary is a session's entry in the catalogue (listSessions, root/sessionAdded). It is not part of a session's state.
 */
export interface SessionSummary {
  resource: string;
  provider: string;
  title: string;
  status: number;
  activity?: string;
  project?: unknown;
  workingDirectory?: string;
  annotations?: unknown;
  /**
   * ISO 8601, UTC, milliseconds
   */
  createdAt: string;
  /**
   * likewise
   */
  modifiedAt: string;
  changes?: unknown;
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * root/sessionRemoved, host to client. Tells of a session that ended.
 */
export interface RootSessionRemovedNotification {
  jsonrpc: "2.0";
  method: "root/sessionRemoved";
  params: SessionRemovedParams;
  [k: string]: unknown;
}
/**
 * SessionRemovedParams tells of a session that ended.
 */
export interface SessionRemovedParams {
  channel: string;
  session: string;
  [k: string]: unknown;
}
/**
 * root/sessionSummaryChanged, host to client. Carries the mutable members that changed.
 */
export interface RootSessionSummaryChangedNotification {
  jsonrpc: "2.0";
  method: "root/sessionSummaryChanged";
  params: SessionSummaryChangedParams;
  [k: string]: unknown;
}
/**
 * SessionSummaryChangedParams carries the mutable members that changed.
 */
export interface SessionSummaryChangedParams {
  channel: string;
  session: string;
  changes: PartialSessionSummary;
  [k: string]: unknown;
}
/**
 * PartialSessionSummary is the changes member of root/sessionSummaryChanged: what changed, and nothing else. null clears.
 */
export interface PartialSessionSummary {
  title?: string | null;
  status?: number | null;
  activity?: string | null;
  project?: unknown;
  workingDirectory?: string | null;
  annotations?: unknown;
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
 * ListSessionsResult is the catalogue, the most recently modified first.
 */
export interface ListSessionsResult {
  items: SessionSummary[];
  [k: string]: unknown;
}
/**
 * OpenCanvasRef is an entry of the catalogue of open instances; the full state is on the instance's own channel.
 */
export interface OpenCanvasRef {
  instanceId: string;
  /**
   * ahp-canvas:/<id>
   */
  channel: string;
  canvasId: string;
  extensionId: string;
  extensionName?: string;
  title?: string;
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
  agents: AgentInfo[];
  [k: string]: unknown;
}
/**
 * RootActiveSessionsChangedAction sets how many sessions there are. From: host. Since 0.5.0.
 */
export interface RootActiveSessionsChangedAction {
  type: "root/activeSessionsChanged";
  activeSessions: number;
  [k: string]: unknown;
}
/**
 * RootTerminalsChangedAction replaces the terminals. This host has none. From: host. Since 0.5.0.
 */
export interface RootTerminalsChangedAction {
  type: "root/terminalsChanged";
  terminals: unknown[];
  [k: string]: unknown;
}
/**
 * RootConfigChangedAction merges config values, or replaces all of them. From: host, client. Since 0.5.0.
 */
export interface RootConfigChangedAction {
  type: "root/configChanged";
  config: {
    [k: string]: unknown;
  };
  replace?: boolean;
  [k: string]: unknown;
}
/**
 * RootState is the state of the root channel (ahp-host.md section 4).
 */
export interface RootState {
  agents: AgentInfo[];
  activeSessions?: number;
  terminals?: unknown[];
  config?: Config;
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * SessionReadyAction says that the session can be used. From: host. Since 0.5.0.
 */
export interface SessionReadyAction {
  type: "session/ready";
  [k: string]: unknown;
}
/**
 * SessionCreationFailedAction says why it never will be. From: host. Since 0.5.0.
 */
export interface SessionCreationFailedAction {
  type: "session/creationFailed";
  error: unknown;
  [k: string]: unknown;
}
/**
 * SessionTitleChangedAction sets the title. From: host, client. Since 0.5.0.
 */
export interface SessionTitleChangedAction {
  type: "session/titleChanged";
  title: string;
  [k: string]: unknown;
}
/**
 * SessionIsReadChangedAction sets or clears bit 32 of the status. From: host, client. Since 0.5.0.
 */
export interface SessionIsReadChangedAction {
  type: "session/isReadChanged";
  isRead: boolean;
  [k: string]: unknown;
}
/**
 * SessionIsArchivedChangedAction sets or clears bit 64 of the status. From: host, client. Since 0.5.0.
 */
export interface SessionIsArchivedChangedAction {
  type: "session/isArchivedChanged";
  isArchived: boolean;
  [k: string]: unknown;
}
/**
 * SessionActivityChangedAction sets what the session is doing; absent clears. From: host. Since 0.5.0.
 */
export interface SessionActivityChangedAction {
  type: "session/activityChanged";
  activity?: string | null;
  [k: string]: unknown;
}
/**
 * SessionServerToolsChangedAction replaces the host's tools. From: host. Since 0.5.0.
 */
export interface SessionServerToolsChangedAction {
  type: "session/serverToolsChanged";
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
  clientId: string;
  [k: string]: unknown;
}
/**
 * SessionConfigChangedAction merges values by name, or replaces all of them; null is a value like any other. Without a config it changes nothing. From: host, client. Since 0.5.0.
 */
export interface SessionConfigChangedAction {
  type: "session/configChanged";
  config: {
    [k: string]: unknown;
  };
  replace?: boolean;
  [k: string]: unknown;
}
/**
 * SessionMetaChangedAction replaces _meta; absent clears. From: host. Since 0.5.0.
 */
export interface SessionMetaChangedAction {
  type: "session/metaChanged";
  _meta?: unknown;
  [k: string]: unknown;
}
/**
 * SessionChangesetsChangedAction replaces the changeset catalogue; absent clears. From: host. Since 0.5.0.
 */
export interface SessionChangesetsChangedAction {
  type: "session/changesetsChanged";
  changesets?: unknown[] | null;
  [k: string]: unknown;
}
/**
 * SessionChatAddedAction adds or replaces a chat of the catalogue. From: host. Since 0.5.0.
 */
export interface SessionChatAddedAction {
  type: "session/chatAdded";
  summary: ChatSummary;
  [k: string]: unknown;
}
/**
 * SessionChatRemovedAction removes a chat, and the default where it was that. From: host. Since 0.5.0.
 */
export interface SessionChatRemovedAction {
  type: "session/chatRemoved";
  chat: string;
  [k: string]: unknown;
}
/**
 * SessionChatUpdatedAction changes members of a chat: null clears one, an object replaces the whole of the one before. Its resource never changes. From: host. Since 0.5.0.
 */
export interface SessionChatUpdatedAction {
  type: "session/chatUpdated";
  chat: string;
  changes: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * SessionDefaultChatChangedAction sets the default chat; absent clears. From: host. Since 0.5.0.
 */
export interface SessionDefaultChatChangedAction {
  type: "session/defaultChatChanged";
  defaultChat?: string | null;
  [k: string]: unknown;
}
/**
 * SessionCustomizationsChangedAction replaces all customizations. From: host. Since 0.5.0.
 */
export interface SessionCustomizationsChangedAction {
  type: "session/customizationsChanged";
  /**
   * Items: Customization is a plugin, a directory, a skill, an MCP server, or a type that this host has never heard of. The host reads only what its reducers need; all other members, and members of the wrong type, are kept as they came.
   */
  customizations: {
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * SessionCustomizationUpdatedAction adds a top-level customization, or replaces the whole of the one with that id. From: host. Since 0.5.0.
 */
export interface SessionCustomizationUpdatedAction {
  type: "session/customizationUpdated";
  customization: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * SessionCustomizationRemovedAction removes the customization of an id: the one at the top level, or, where there is none, each that is a child. Whatever has children is a container, but for an MCP server. From: host. Since 0.5.0.
 */
export interface SessionCustomizationRemovedAction {
  type: "session/customizationRemoved";
  id: string;
  [k: string]: unknown;
}
/**
 * SessionCustomizationToggledAction switches a top-level customization on or off. From: host, client. Since 0.5.0.
 */
export interface SessionCustomizationToggledAction {
  type: "session/customizationToggled";
  id: string;
  enabled: boolean;
  [k: string]: unknown;
}
/**
 * SessionMcpServerStateChangedAction sets the state of an MCP server and its channel, which clears where it is absent. Its id finds it as CustomizationRemoved does; what is no MCP server stays as it is. From: host. Since 0.5.0.
 */
export interface SessionMcpServerStateChangedAction {
  type: "session/mcpServerStateChanged";
  id: string;
  state: unknown;
  channel?: string | null;
  [k: string]: unknown;
}
/**
 * SessionCanvasesChangedAction replaces the canvas registry (#297 section 7). From: host. Since 0.6.0. Requires the capability canvas.
 */
export interface SessionCanvasesChangedAction {
  type: "session/canvasesChanged";
  canvases: SessionCanvasDeclaration[];
  [k: string]: unknown;
}
/**
 * SessionCanvasDeclaration is one entry of the registry that the agent sees: the union of all connected providers (#297 section 2).
 */
export interface SessionCanvasDeclaration {
  extensionId: string;
  extensionName?: string;
  /**
   * unique within the extension
   */
  canvasId: string;
  displayName: string;
  description: string;
  inputSchema?: unknown;
  actions?: SessionCanvasAction[];
  source: CanvasProviderSource;
  [k: string]: unknown;
}
/**
 * SessionOpenCanvasesChangedAction replaces the catalogue of open canvases. From: host. Since 0.6.0. Requires the capability canvas.
 */
export interface SessionOpenCanvasesChangedAction {
  type: "session/openCanvasesChanged";
  openCanvases: OpenCanvasRef[];
  [k: string]: unknown;
}
/**
 * SessionActiveClientChangedAction is #297's older spelling of two actions: null removes, so the member must be there. From: client. Since 0.5.0. An older spelling that a host accepts from clients and never sends.
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
 * SessionState is the state of a session channel (ahp-host.md section 3a), with the two members of #297 section 2. Slices and values in it are never changed in place.
 */
export interface SessionState {
  provider: string;
  title: string;
  /**
   * bits: 1 idle, 2 error, 8 in progress, 24 input needed, 32 read, 64 archived
   */
  status: number;
  activity?: string;
  project?: unknown;
  workingDirectory?: string;
  annotations?: unknown;
  lifecycle: "creating" | "ready" | "creationFailed";
  creationError?: unknown;
  serverTools?: ToolDefinition[];
  activeClients: SessionActiveClient[];
  chats: ChatSummary[];
  defaultChat?: string;
  config?: Config;
  /**
   * Items: Customization is a plugin, a directory, a skill, an MCP server, or a type that this host has never heard of. The host reads only what its reducers need; all other members, and members of the wrong type, are kept as they came.
   */
  customizations?: {
    [k: string]: unknown;
  }[];
  changesets?: unknown[];
  _meta?: unknown;
  /**
   * passed through
   */
  inputNeeded?: unknown;
  canvases?: SessionCanvasDeclaration[];
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
