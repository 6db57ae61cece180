"""A small OpenAI-compatible server, run as a process: python http_judge.py PORT LOG [--delay S] [--model NAME] [--mode MODE]."""

import argparse
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from hashed import hashed_output


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet

    def do_GET(self):
        self.reply({"data": [{"id": arguments.model}]} if self.path == "/v1/models" else {})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][-1]["content"]
        if self.path == "/tokenize":
            return self.reply({"count": len(prompt.split())})
        time.sleep(arguments.delay)
        text = hashed_output(prompt)
        with open(arguments.log, "a") as log:
            log.write(f"{body['temperature']} {body['max_tokens']}\n")
        if arguments.mode == "busy" and len(Path(arguments.log).read_text().splitlines()) % 3:
            return self.reply({"error": "busy"}, 503)
        if arguments.mode == "refuse":
            return self.reply({"error": "too long"}, 400)
        if arguments.mode == "odd":
            return self.reply({"text": text})
        finish = "length" if arguments.mode == "cut" else "stop"
        choice = {"message": {"content": None if arguments.mode == "silent" else text}, "finish_reason": finish}
        self.reply({"model": arguments.model, "choices": [choice], "usage": {"completion_tokens": len(text.split())}})

    def reply(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        pass


class Server(ThreadingHTTPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128


parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("log")
parser.add_argument("--delay", type=float, default=0.0)
parser.add_argument("--model", default="judge")
parser.add_argument("--mode", default="good")
arguments = parser.parse_args()
Server(("127.0.0.1", arguments.port), Handler).serve_forever()
