// A browser starts no worker for a page that was opened from disk, and the search of these pages is one.
// There, a hidden frame of the same page stands in: its script runs as a worker's would, and messages go both ways.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      // The script of a worker answers by the function postMessage of its own window.
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((done, failed) => {
        const script = frame.contentDocument.createElement("script");
        script.onload = done;
        script.onerror = () => failed(new Error(`cannot read ${url}`));
        script.src = url;
        frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
}
