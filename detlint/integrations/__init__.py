"""Where other tools load detlint from. They do so for everyone who has it installed: so nothing
here imports guard or torch before somebody asks, or does anything where `guard` is another
package."""
