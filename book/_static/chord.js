// The interactive chord: two sliders move one nGPT step on the unit circle. Plain SVG, no library.
// Each <figure class="chord-picture"> on the page works on its own; without this script it is a still picture.
(() => {
  "use strict";
  const R = 100;
  const at = (turn, radius = R) => [radius * Math.cos(turn), -radius * Math.sin(turn)];
  const show = ([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`;
  const arc = (from, to, radius) => {
    const sweep = to > from ? 0 : 1; // the y axis of SVG points down
    return `M ${show(at(from, radius))} A ${radius} ${radius} 0 0 ${sweep} ${show(at(to, radius))}`;
  };
  const degrees = (angle) => {
    const text = ((angle * 180) / Math.PI).toFixed(2);
    return `${text === "-0.00" ? "0.00" : text.replace("-", "\u2212")}°`;
  };

  function start(figure) {
    const part = (name) => figure.querySelector(`[data-part="${name}"]`);
    const place = (name, [x, y]) => part(name).setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
    const path = (name, d) => part(name).setAttribute("d", d);
    const write = (name, text) => { part(name).textContent = text; };

    function draw() {
      const alpha = Number(part("alpha").value);
      const theta = (Number(part("theta").value) * Math.PI) / 180;
      const first = (Math.PI - theta) / 2; // h on the right, h_A on the left, the bisector upright
      const h = at(first);
      const target = at(first + theta);
      const point = [0, 1].map((i) => (1 - alpha) * h[i] + alpha * target[i]);
      const phi = Math.atan2(-point[1], point[0]) - first;
      const share = alpha * theta;
      const gap = share - phi;

      path("radii", `M ${show(h)} L 0 0 L ${show(target)}`);
      path("arc", arc(first, first + theta, R));
      path("chord", `M ${show(h)} L ${show(target)}`);
      path("ray", `M 0 0 L ${show(at(first + phi))}`);
      path("ruler-slerp", arc(first, first + share, 122));
      path("ruler-step", arc(first, first + phi, 111));
      const tick = (turn) => `M ${show(at(turn))} L ${show(at(turn, 126))}`;
      path("ticks", [first, first + share, first + phi].map(tick).join(" "));
      path("gap", arc(first + phi, first + share, gap > 0 ? 111 : 122));
      place("h", h);
      place("target", target);
      place("h-name", at(first - 0.16, 104));
      place("target-name", at(first + theta + 0.16, 104));
      place("chord-point", point);
      place("step", at(first + phi));
      place("slerp", at(first + share));

      // names of the two points reached: outside the rulers, kept apart, on the outer side
      const right = alpha <= 0.5;
      const names = [["slerp-name", first + share], ["step-name", first + phi]].map(([name, turn]) => [name, at(turn, 128)]);
      names.sort((a, b) => b[1][1] - a[1][1]); // the lower one first
      const close = 16 - (names[0][1][1] - names[1][1][1]);
      if (close > 0) names[1][1][1] -= close;
      for (const [name, spot] of names) {
        part(name).setAttribute("text-anchor", right ? "start" : "end");
        place(name, spot);
      }

      const exact = [0, 0.5, 1].includes(alpha);
      const words = exact ? "no gap" : gap > 0 ? "the step lags" : "the step leads";
      write("alpha-value", alpha.toFixed(2));
      write("theta-value", `${part("theta").value}°`);
      write("share-value", degrees(share));
      write("phi-value", degrees(phi));
      write("gap-value", !exact && Math.abs(gap) < Math.PI / 36000 ? "less than 0.01°" : degrees(exact ? 0 : gap));
      write("words", words);
      const spoken = `step ${degrees(phi)}, SLERP ${degrees(share)}, ${words}`;
      part("alpha").setAttribute("aria-valuetext", `${alpha.toFixed(2)}: ${spoken}`);
      part("theta").setAttribute("aria-valuetext", `${part("theta").value} degrees: ${spoken}`);
    }

    part("controls").hidden = false;
    for (const name of ["alpha", "theta"]) part(name).addEventListener("input", draw);
    draw();
  }

  const run = () => document.querySelectorAll("figure.chord-picture").forEach(start);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", run);
  else run();
})();
